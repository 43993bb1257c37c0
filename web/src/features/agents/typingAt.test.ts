import { expect, test } from 'vitest'
import { typingAt } from './typingAt.ts'

test.each([
  ['/', 1, { kind: 'command', from: 0, to: 1, typed: '' }],
  ['/docs:ch', 8, { kind: 'command', from: 0, to: 8, typed: 'docs:ch' }],
  ['/ship it', 8, null],
  ['a /', 3, null],
  ['@', 1, { kind: 'mention', from: 0, to: 1, typed: '' }],
  ['see @src/a b', 10, { kind: 'mention', from: 4, to: 10, typed: 'src/a' }],
  ['see @src/a b', 12, null],
  ['me@example.org', 14, null],
  ['', 0, null],
])('%j at %i', (text, caret, typing) => expect(typingAt(text, caret)).toEqual(typing))
