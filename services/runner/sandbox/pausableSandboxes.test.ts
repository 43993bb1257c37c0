/** Which processes of a task's sandboxes go on after a pause. */
import { spawn } from 'node:child_process'
import { afterEach, expect, test } from 'vitest'
import { pausable } from './pausableSandboxes.ts'
import type { Sandbox, SandboxedProcess, SandboxSpec } from './port.ts'
import { factsOf } from './processTree.ts'

const children: ReturnType<typeof spawn>[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function sleeping(): number {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  children.push(child)
  if (child.pid === undefined) throw new Error('There is no sleep.')
  return child.pid
}
const stateOf = async (pid: number) => (await factsOf(`/proc/${pid}`))?.state

test.skipIf(process.platform !== 'linux')('an agent that was frozen before stays frozen', async () => {
  const [agent, program] = [sleeping(), sleeping()]
  const child = { pid: agent, programs: () => [program], exited: new Promise(() => undefined) }
  const { sandbox, pause } = pausable({
    run: () => child as unknown as SandboxedProcess,
  } as unknown as Sandbox)
  sandbox.run({ workspace: { taskId: 'a' } } as unknown as SandboxSpec)
  process.kill(agent, 'SIGSTOP')
  await expect.poll(() => stateOf(agent)).toBe('T')
  const paused = await pause('a')
  await expect.poll(() => stateOf(program)).toBe('T')
  paused.resume()
  await expect.poll(() => stateOf(program)).toBe('S')
  expect(await stateOf(agent)).toBe('T')
})
