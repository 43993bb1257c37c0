import { expect, test } from 'vitest'
import { blocksOf } from './blocks.ts'

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
