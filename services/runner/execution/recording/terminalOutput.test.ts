/** How much of a command's output is kept outside of the terminal. */
import { expect, test } from 'vitest'
import { redactionOf } from '../../redaction/redaction.ts'
import { textThreads } from '../../redaction/textThreads.ts'
import { lastOf, runOutput } from './terminalOutput.ts'

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

// Attacks layers: a setup prints a secret with colours in the middle of it, which its log does not keep.
test('no secret comes together when the colours within it are gone', async () => {
  const terminal = { append: async () => undefined, tell: () => undefined, head: () => null }
  const redaction = redactionOf(['swordfish-of-the-project'], textThreads())
  const fence = { executionId: 'one', attempt: 1 }
  const output = runOutput(terminal, { fence, kind: 'command', redaction })
  const last = output.keepLast()
  await output.stdout.write('key sword\u001B[1;31mfish\u001B[0m-of-the-project end\n')
  await output.end()
  expect(await last()).toBe('key [redacted] end')
})
