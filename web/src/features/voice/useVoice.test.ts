import { expect, test } from 'vitest'
import { appendWords } from './useVoice.ts'

test.each([
  ['', ' fix the login', 'fix the login'],
  ['Fix the login', 'and add a test', 'Fix the login and add a test'],
  ['Fix the login ', ' and add a test ', 'Fix the login and add a test'],
  ['Fix the login\n', 'add a test', 'Fix the login\nadd a test'],
  ['Fix the login', ', please', 'Fix the login, please'],
  ['Fix (', 'the login', 'Fix (the login'],
  ['Fix the login', '  ', 'Fix the login'],
])('behind %j the words %j read %j', (text, words, read) => {
  expect(appendWords(text, words)).toBe(read)
})
