/** The colours of texts have enough contrast on the backgrounds that they are on. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const texts = ['text', 'muted', 'syn-key', 'syn-str', 'syn-num', 'syn-fn']
const backgrounds = ['bg', 'panel', 'raised', 'select', 'add-bg', 'add-word', 'del-bg', 'del-word', 'warn-bg']

/** The relative luminance of a colour such as `#16181d`, after WCAG 2.2. */
function luminanceOf(colour: string): number {
  const parts = [...colour.matchAll(/[\da-f]{2}/g)].map(([hex]) => Number.parseInt(hex, 16) / 255)
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

test.each([
  ['light', /^:root \{([^}]*)\}/m],
  ['dark', /^:root\[data-theme='dark'\] \{([^}]*)\}/m],
])('texts of the %s theme are readable, also on the words that changed', async (_, theme) => {
  const css = theme.exec(await readFile(new URL('tokens.css', import.meta.url), 'utf8'))?.[1] ?? ''
  const colours = new Map(
    [...css.matchAll(/--([\w-]+): (#[\da-f]{6});/g)].map(([, name, value]) => [name, value]),
  )
  const luminance = (name: string) => {
    const colour = colours.get(name)
    if (colour === undefined) throw new Error(`There is no colour ${name}.`)
    return luminanceOf(colour)
  }
  const pairs = texts.flatMap((text) =>
    backgrounds.map((background) => {
      const [dark = 0, light = 0] = [luminance(text), luminance(background)].toSorted((a, b) => a - b)
      return { text, background, contrast: (light + 0.05) / (dark + 0.05) }
    }),
  )
  expect(pairs.filter(({ contrast }) => !(contrast >= 4.5))).toEqual([])
})
