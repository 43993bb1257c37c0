import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hasHidden, shownParts } from './hiddenCharacters.ts'

const asText = (text: string): string =>
  shownParts(text)
    .map((part) => (part.kind === 'text' ? part.text : `[${part.codePoint}]`))
    .join('')

describe('finding low: characters that turn or hide text', () => {
  // Holds findings 1.63.
  test.each([
    ['if (role\u202E) // admin', 'if (role[U+202E]) // admin'],
    ['\u2066isolate\u2069', '[U+2066]isolate[U+2069]'],
    ['pass\u200Bword', 'pass[U+200B]word'],
    ['soft\u00ADhyphen', 'soft[U+00AD]hyphen'],
    ['\uFEFFbom', '[U+FEFF]bom'],
    ['join\u200Der', 'join[U+200D]er'],
    ['tag\u{E0041}', 'tag[U+E0041]'],
    ['variant\uFE00', 'variant[U+FE00]'],
    ['emoji ❤\uFE0F\uFE0E', 'emoji ❤\uFE0F[U+FE0E]'],
    ['digit 1\uFE0F', 'digit 1[U+FE0F]'],
    ['smuggled\u{E0152}', 'smuggled[U+E0152]'],
    ['grapheme\u034Fjoiner', 'grapheme[U+034F]joiner'],
    ['note\uFFF9', 'note[U+FFF9]'],
  ])('%j is shown as %s', (text, shown) => {
    expect(hasHidden(text)).toBe(true)
    expect(asText(text)).toBe(shown)
  })

  test.each([
    'plain',
    '',
    'שלום עולם',
    'مرحبا',
    'نمی‌خواهم',
    '👩‍💻',
    'क्‍ष',
    '❤\uFE0F',
    '1\uFE0F\u20E3',
    '葛\u{E0100}',
    'ᠠ\u180B',
    'tab\there',
    'naïve café',
  ])('%j is left as it is', (text) => {
    expect(hasHidden(text)).toBe(false)
    expect(asText(text)).toBe(text)
  })

  test('nothing is lost', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const whole = shownParts(text).map((part) =>
          part.kind === 'text' ? part.text : String.fromCodePoint(parseInt(part.codePoint.slice(2), 16)),
        )
        expect(whole.join('')).toBe(text)
      }),
    ))
})
