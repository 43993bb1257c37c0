import { expect, test, describe } from 'vitest'
import { blocksOf, withListings } from './blocks.ts'

test.each<readonly [string, readonly string[]]>([
  ['', ['']],
  ['One\nand more', ['One\nand more']],
  ['One\n\nTwo\n\n\n# Three\n', ['One\n\n', 'Two\n\n\n', '# Three\n']],
  ['- a\n\n- b\n\n  of b\n\nAfter', ['- a\n\n- b\n\n  of b\n\n', 'After']],
  ['1. a\n\n2) b\n\n    code\n\nAfter', ['1. a\n\n2) b\n\n    code\n\n', 'After']],
  ['> a\n\n> b', ['> a\n\n', '> b']],
  ['One\n\n---\n\nTwo', ['One\n\n', '---\n\n', 'Two']],
  ['```ts\na\n\nb\n```\n\nAfter', ['```ts\na\n\nb\n```\n\n', 'After']],
  ['````\n```\n\na\n~~~\n````\n\nAfter', ['````\n```\n\na\n~~~\n````\n\n', 'After']],
  ['~~~\na\n\nnot closed', ['~~~\na\n\nnot closed']],
  ['```no``` fence\n\nAfter', ['```no``` fence\n\n', 'After']],
])('%j is the blocks %j', (text, blocks) => {
  expect(blocksOf(text)).toEqual(blocks)
})

test.each([
  'See [it].\n\nMore\n\n[it]: https://example.org',
  '> [^1]: note\n\nMore[^1]',
  '<!-- a\n\nb -->\n\nc',
])('what only the whole of it says is one block: %j', (text) => expect(blocksOf(text)).toEqual([text]))

describe('lines with their numbers', () => {
  test.each([
    ['an arrow', '1→const a = 1\n2→const b = 2'],
    ['a bar', ' 9 | const a = 1\n10 | const b = 2'],
    ['a tab', '     1\tconst a = 1\n     2\tconst b = 2'],
  ])('behind which there is %s are a code block', (_, listing) =>
    expect(withListings(`Here it is:\n${listing}\nThat is all.`)).toBe(
      `Here it is:\n\`\`\`\n${listing}\n\`\`\`\nThat is all.`,
    ),
  )

  test.each([
    ['one line alone', '1→const a = 1'],
    ['numbers that do not follow each other', '1→a\n5→b\n3→c'],
    ['a list', '1. one\n2. two'],
    ['a table', '| 1 | a |\n| 2 | b |'],
    ['what is in a code block already', '```\n1→a\n2→b\n```'],
  ])('%s stay as they are', (_, text) => expect(withListings(text)).toBe(text))

  test('that hold a fence are in a longer one', () =>
    expect(withListings('1→```\n2→text')).toBe('````\n1→```\n2→text\n````'))
})
