import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { testPath } from '../../../../tests/runner/workspaceScene.ts'
import { endOrphanedSandboxes } from './orphans.ts'
import { findTestSandbox } from '../../../../tests/runner/testSandbox.ts'
import { processTree } from '../processTree.ts'

const { sandbox, note } = await findTestSandbox()

/** A sandbox that is not tied to who made it, as one is whose maker was killed too early; with the first process in it. */
async function orphan(tree: string): Promise<number> {
  const system = ['/usr', '/bin', '/lib', '/lib64'].flatMap((path) => ['--ro-bind-try', path, path])
  const own = ['--unshare-user', '--unshare-pid', '--bind', tree, '/workspace']
  const child = spawn('bwrap', ['--tmpfs', '/', ...system, ...own, '--', 'sleep', '300'], {
    env: { PATH: testPath },
    stdio: 'ignore',
  })
  const outer = child.pid ?? 0
  onTestFinished(() => void child.kill('SIGKILL'))
  const first = await vi.waitFor(async () => {
    const [, pid, ...inside] = await processTree(outer)
    if (pid === undefined || inside.length === 0) throw new Error('It is not made yet.')
    return pid
  })
  child.kill('SIGKILL')
  return first
}

const isThere = (pid: number) =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (stat) => !/\) [ZX] /.test(stat),
    () => false,
  )

test.skipIf(!sandbox)(
  `a sandbox that outlived its runner is ended, and another's is let live${note}`,
  async () => {
    const roots = await Promise.all(['one', 'other'].map((name) => mkdtemp(join(tmpdir(), `left-${name}-`))))
    onTestFinished(async () => {
      for (const root of roots) await rm(root, { recursive: true, force: true })
    })
    const [own, other] = await Promise.all(
      roots.map(async (root) => {
        const tree = join(root, 'tasks/task/tree')
        await mkdir(tree, { recursive: true })
        return orphan(tree)
      }),
    )
    const [root, otherRoot] = roots
    if (own === undefined || other === undefined || root === undefined || otherRoot === undefined)
      throw new Error('There are two.')
    expect([await isThere(own), await isThere(other)]).toEqual([true, true])
    await endOrphanedSandboxes(root)
    await vi.waitFor(async () => expect(await isThere(own)).toBe(false))
    expect(await isThere(other)).toBe(true)
    await endOrphanedSandboxes(otherRoot)
    await vi.waitFor(async () => expect(await isThere(other)).toBe(false))
  },
)
