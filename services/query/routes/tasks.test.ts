import { expect, test } from 'vitest'
import { blobBefore } from './tasks.ts'

const name = 'a1'.repeat(20)
const diff = (index: string, lines = '@@ -1 +1 @@\n-old\n+new\n') =>
  `diff --git a/x b/x\n${index}\n--- a/x\n+++ b/x\n${lines}`

test('git says in a diff what the content was called before', () => {
  expect(blobBefore(diff(`index ${name}..${'b2'.repeat(20)} 100644`))).toBe(name)
})

test.each([
  ['a new file', diff(`index ${'0'.repeat(40)}..${name}`)],
  ['a diff without lines', `diff --git a/x b/x\nindex ${name}..${name} 160000\nBinary files differ\n`],
  ['what is told and not looked into', '\\ The file is too large to show.\n'],
  ['nothing', ''],
  ['a shortened name', diff('index a1a1a1a..b2b2b2b 100644')],
])('of %s there is no earlier content', (_, text) => {
  expect(blobBefore(text)).toBeNull()
})

test('a line of a file that looks like git’s word is none', () => {
  const lines = `@@ -1 +1 @@\nindex ${name}..${name}\n`
  expect(blobBefore(diff('similarity index 90%', lines))).toBeNull()
})
