import { expect, test } from 'vitest'
import { jsonWithComments } from './jsonWithComments.ts'

test.each([
  ['{"a": 1} // end', { a: 1 }],
  ['\uFEFF/* head */ {"a": [1, 2,],\n}', { a: [1, 2] }],
  ['{"url": "https://a.example/*x*/,]", /* "no" */ "b": ",}"}', { url: 'https://a.example/*x*/,]', b: ',}' }],
  [String.raw`{"a": "\"// no comment\\"}`, { a: String.raw`"// no comment\ `.trim() }],
  ['{"a": 1, // b, }\n "c": 2,}', { a: 1, c: 2 }],
  ['{"a": 1 / 2}', undefined],
  ['{"a": "open', undefined],
  ['{"a": 1} /* open', { a: 1 }],
  ['image: node', undefined],
  ['', undefined],
])('reads %j', (text, value) => expect(jsonWithComments(text)).toEqual(value))

// Attacks detected: comments, strings and lists without an end.
test.each([
  ['comments that are not closed', '/*'.repeat(120_000)],
  ['a string that is not closed', `"${String.raw`\"`.repeat(120_000)}`],
  ['commas', ',\n'.repeat(120_000)],
  ['nested lists', '['.repeat(250_000)],
])('is done with %s', (_, text) => expect(jsonWithComments(text)).toBeUndefined())
