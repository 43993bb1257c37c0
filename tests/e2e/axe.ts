/** What axe says of a page: WCAG 2.2 to level AA and its best practices, in both themes. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright'

const everything = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** The theme changes nothing but colours. */
const ofColours = ['color-contrast', 'link-in-text-block']

/** A sentence for each violation; none when all is well. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
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

/** The colours of a theme come in over a moment, in which they have no contrast. */
async function coloursHaveChanged(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition)
    await Promise.allSettled(transitions.map(({ finished }) => finished))
  })
}

/** The pages have no frames: without them axe needs no second page. What is in order is not listed, which takes as long as finding it. */
function axe(page: Page, axeSource?: string): AxeBuilder {
  return new AxeBuilder({ page, ...(axeSource && { axeSource }) })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
}
