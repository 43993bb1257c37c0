/** Which plaintexts are salted contents. */
import { expect, test } from 'vitest'
import { isSalted, salted } from './chain.ts'

const plain = salted({ text: 'hello' })
const { salt: _salt, ...unsalted } = plain
const { content: _content, ...empty } = plain

test('what was salted is a salted content, also without a content', () => {
  expect([plain, salted(null)].map(isSalted)).toEqual([true, true])
})

test.each<[string, unknown]>([
  ['no object', 'hello'],
  ['null', null],
  ['a list', [1, 2, 3]],
  ['without a salt', { ...unsalted, more: 1 }],
  ['without a content', { ...empty, more: 1 }],
  ['of another scheme', { ...plain, scheme: 2 }],
  ['with a short salt', { ...plain, salt: plain.salt.slice(1) }],
  ['with a salt of other characters', { ...plain, salt: plain.salt.replace(/./, '/') }],
  ['with another member', { ...plain, more: 1 }],
])('%s is none', (_, value) => {
  expect(isSalted(value)).toBe(false)
})
