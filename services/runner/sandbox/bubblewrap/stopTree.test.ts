import { spawn } from 'node:child_process'
import { onTestFinished, expect, test } from 'vitest'
import { childrenOf, factsOf } from '../processTree.ts'
import { othersBelow } from './stopTree.ts'

test('finding 2: a process that is found dead may have started another since it was listed, and counts once', async () => {
  // The child ends at once, and no process waits for it.
  const parent = spawn('perl', ['-e', 'fork or exit; sleep 600'])
  onTestFinished(() => void parent.kill('SIGKILL'))
  const root = parent.pid ?? 0
  await expect
    .poll(async () => {
      const [child] = await childrenOf(root)
      return child === undefined ? undefined : (await factsOf(`/proc/${child}`))?.state
    })
    .toBe('Z')
  const dead = new Set<string>()
  expect(await othersBelow(root, [], dead)).toEqual(await childrenOf(root))
  expect(await othersBelow(root, [], dead)).toEqual([])
})
