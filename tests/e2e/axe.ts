/** Checks a page with axe: WCAG 2.2 up to level AA and axe's best practices, in both themes. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright'

const everything = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** Rules about colours, which are all that the theme changes. */
const ofColours = ['color-contrast', 'link-in-text-block']

/** A sentence for each violation; none when there are none. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  await coloursHaveChanged(page)
  const light = await axe(page).withTags(everything).analyze()
  await page.emulateMedia({ colorScheme: 'dark' })
  await coloursHaveChanged(page)
  // The script of axe is already in the page.
  const dark = await axe(page, ';').withRules(ofColours).analyze()
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light.violations, ...dark.violations].flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${help}: ${html} ${any.map(({ message }) => message).join(' ')}`),
  )
}

/** Waits until colours have changed: those of a theme, or of a button that changes, fade in, and have too little contrast meanwhile. */
async function coloursHaveChanged(page: Page): Promise<void> {
  await page.evaluate(async () => {
    // The page receives the change of theme with the next frame.
    for (let frames = 0; frames < 2; frames += 1) await new Promise((drawn) => requestAnimationFrame(drawn))
    const changing = () => document.getAnimations().filter((animation) => animation instanceof CSSTransition)
    for (let found = changing(); found.length > 0; found = changing())
      await Promise.allSettled(found.map(({ finished }) => finished))
  })
}

/** The pages have no frames, so axe needs no second page. Passed rules are not listed, because that takes as long as checking them. */
function axe(page: Page, axeSource?: string): AxeBuilder {
  return new AxeBuilder({ page, ...(axeSource && { axeSource }) })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
}
