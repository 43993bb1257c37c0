import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeScene, type Scene } from '../../../../tests/runner/workspaceScene.ts'
import { describeSandbox } from '../../../../tests/runner/sandbox.contract.ts'
import { openControlGroups } from './controlGroups.ts'
import { findTestSandbox } from '../../../../tests/runner/testSandbox.ts'

// This file runs in a process of its own, which gives up root here.
if (process.getuid?.() === 0) {
  process.setgroups?.([])
  process.setgid?.(27_000)
  process.setuid?.(27_000)
}
const { sandbox, note } = await findTestSandbox()

test('this server is not root', () => expect(process.getuid?.()).not.toBe(0))

describeSandbox(`by bubblewrap, made by a user who is not root${note}`, sandbox)

describe.skipIf(!sandbox)('made by a user who is not root, a sandbox', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
  })
  afterAll(() => scene.remove())

  // prctl(2), PR_SET_DUMPABLE.
  const dumpable = (value: 0 | 1) =>
    `syscall(${process.arch === 'arm64' ? 167 : 157}, 4, ${value}, 0, 0, 0) == 0 or die`
  const endOf = async (script: string) => {
    const child = sandbox?.run({
      command: ['perl', '-e', script],
      env: {},
      workspace: await scene.prepare(),
      readOnly: [],
      sockets: [],
      stdin: 'ignore',
      limits: { memoryBytes: 1024 ** 3, processes: 64, fileSizeBytes: 1024 ** 2, wallMs: 20_000 },
    })
    child?.stdout.resume()
    child?.stderr.resume()
    return (await child?.exited)?.reason
  }

  // Holds findings 1.48.
  test('finding 13: with a process that hides what it holds is ended, where nobody else counts that', async () => {
    // Where the kernel counts, such a process is like any other.
    const reason = typeof (await openControlGroups()) === 'string' ? 'memory_limit' : 'itself'
    expect(await endOf(`${dumpable(0)}; sleep 15`)).toBe(reason)
  })

  test('finding 13: goes on with a process that hides what it holds for a moment, as one does that starts', async () => {
    const sleep = (seconds: number) => `select undef, undef, undef, ${seconds}`
    expect(await endOf(`${sleep(0.3)}; ${dumpable(0)}; ${sleep(0.4)}; ${dumpable(1)}; ${sleep(2)}`)).toBe(
      'itself',
    )
  })
})
