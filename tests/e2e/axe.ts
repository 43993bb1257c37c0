/** What axe says of a page: WCAG 2.2 to level AA and its best practices, in both themes. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright'

const everything = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** The theme changes nothing but colours. */
const ofColours = ['color-contrast', 'link-in-text-block']

/** A sentence for each violation; none when all is well. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  await coloursHaveChanged(page)
  const light = await axe(page).withTags(everything).analyze()
  await page.emulateMedia({ colorScheme: 'dark' })
  await coloursHaveChanged(page)
  // It is on the page already.
  const dark = await axe(page, ';').withRules(ofColours).analyze()
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light.violations, ...dark.violations].flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html} ${any.map(({ message }) => message).join(' ')}`),
  )
}

/** The colours of a theme, and those of a button that becomes another, come in over a moment, in which they have no contrast. */
async function coloursHaveChanged(page: Page): Promise<void> {
  await page.evaluate(async () => {
    // The page hears of another theme with the next frame.
    for (let frames = 0; frames < 2; frames += 1) await new Promise((drawn) => requestAnimationFrame(drawn))
    const changing = () => document.getAnimations().filter((animation) => animation instanceof CSSTransition)
    for (let found = changing(); found.length > 0; found = changing())
      await Promise.allSettled(found.map(({ finished }) => finished))
  })
}

/** The pages have no frames: without them axe needs no second page. What is in order is not listed, which takes as long as finding it. */
function axe(page: Page, axeSource?: string): AxeBuilder {
  return new AxeBuilder({ page, ...(axeSource && { axeSource }) })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
}
