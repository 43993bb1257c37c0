/** How much of a command's output is kept outside of the terminal. */
import { expect, test } from 'vitest'
import { lastOf } from './terminalOutput.ts'

const keptOf = (...pieces: readonly string[]) => {
  const last = lastOf(20)
  for (const piece of pieces) last.add(piece)
  return last.text()
}

test.each([
  ['nothing', [], ''],
  ['all of a short output', ['one\n', 'two\n'], 'one\ntwo'],
  [
    'whole lines from the end of a longer one',
    ['the first line\n', 'second\n', 'third\n'],
    '…\nsecond\nthird',
  ],
  ['the end of a line that is too long', ['x'.repeat(100)], `…\n${'x'.repeat(20)}`],
  ['no colours, titles or links', ['\u001B[31mred\u001B[0m \u001B]0;t\u0007ok\n'], 'red ok'],
])('the last of an output is %s', (_, pieces, kept) => expect(keptOf(...pieces)).toBe(kept))
