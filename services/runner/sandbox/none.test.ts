import { readFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CannotStart } from '#platform/childProcess.ts'
import { makeScene, testGit, testPath } from '../../../tests/runner/workspaceScene.ts'
import type { Scene } from '../../../tests/runner/workspaceScene.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { noSandbox } from './none.ts'
import type { SandboxedProcess, SandboxSpec } from './port.ts'

const limits = { memoryBytes: 2 * 1024 ** 3, processes: 256, fileSizeBytes: 1024 ** 3, wallMs: 20_000 }
const sandbox = noSandbox({ path: testPath, git: testGit })

describe('without a sandbox', () => {
  let scene: Scene
  let workspace: Workspace
  beforeAll(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
    // Without a sandbox nobody else than the one who owns the folders above gets through them.
    workspace = { ...(await scene.prepare()), owner: undefined }
  })
  afterAll(() => scene.remove())

  const start = (script: string, asked: Partial<SandboxSpec> = {}): SandboxedProcess =>
    sandbox.run({
      command: ['bash', '-c', script],
      env: { GIVEN: 'yes' },
      workspace,
      readOnly: [],
      sockets: [],
      stdin: 'ignore',
      limits,
      ...asked,
    })
  const output = async (child: SandboxedProcess): Promise<string> => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
    child.stderr.resume()
    await child.exited
    return text
  }

  test('a command runs in the tree, with an environment of its own', async () => {
    const told = await output(start('pwd; echo $HOME; env | cut -d= -f1 | sort | tr "\\n" " "'))
    const names = 'FLIGHTDECK_RUN GIT_ALTERNATE_OBJECT_DIRECTORIES GIVEN HOME LANG PATH PWD SHLVL _ '
    expect(told).toBe(`${workspace.dir}\n${workspace.homeDir}\n${names}`)
    expect(sandbox.paths(workspace)).toEqual({ tree: workspace.dir, home: workspace.homeDir })
    expect(sandbox.seenAs({ source: '/a', target: '/b' })).toBe('/a')
  })

  test('the server goes before what it computes', async () => {
    expect(await output(start('sleep 0.2; nice; sh -c nice'))).toBe(`${getPriority() + 10}\n`.repeat(2))
  })

  test("the agent's git finds the history", async () => {
    expect(await output(start('git -c safe.directory=* log --format=%s main'))).toBe('A change\n')
  })

  test('finding 2: frozen, it stands still and is alone, until it is thawed', async () => {
    const beating = (name: string) => `bash -c "while :; do date +%s%N > ${name}; sleep 0.02; done"`
    const child = start(
      `setsid ${beating('one')} & (setsid setsid ${beating('two')} &); exec ${beating('itself')}`,
    )
    const beats = (...names: string[]) =>
      Promise.all(names.map((name) => readFile(join(workspace.dir, name), 'utf8').catch(() => '')))
    await expect.poll(() => beats('one', 'two', 'itself')).not.toContain('')
    expect(await child.freeze()).toBe('frozen')
    const before = await beats('one', 'two', 'itself')
    await delay(200)
    expect(await beats('one', 'two', 'itself')).toEqual(before)
    child.thaw()
    await expect.poll(() => beats('itself')).not.toEqual(before.slice(2))
    expect(await beats('one', 'two')).toEqual(before.slice(0, 2))
    child.kill()
    await child.exited
    expect(await child.freeze()).toBe('ended')
  })

  test('a kill ends what it started, also in sessions of its own', async () => {
    // It starts one after the other, so that some begin while the others are looked for.
    const child = start(
      'setsid bash -c "while :; do (sleep 0.05; date +%s%N > beat) & sleep 0.002; done" & wait',
    )
    const beat = () => readFile(join(workspace.dir, 'beat'), 'utf8').catch(() => '')
    await expect.poll(beat).not.toBe('')
    child.kill()
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL', reason: 'killed' })
    const last = await beat()
    await delay(300)
    expect(await beat()).toBe(last)
  })

  test('time ends it, an interrupt reaches it', async () => {
    expect(await start('sleep 60', { limits: { ...limits, wallMs: 200 } }).exited).toMatchObject({
      reason: 'time_limit',
    })
    const child = start('trap "exit 3" INT; echo ready; while :; do sleep 0.05; done')
    child.stdout.once('data', () => child.interrupt())
    expect(await child.exited).toEqual({ code: 3, signal: null, reason: 'itself' })
  })

  test('another program starts beside it, with a terminal, goes on while it is frozen, and ends with it', async () => {
    const child = start('while :; do date +%s%N > itself; sleep 0.02; done')
    const program = await child.exec({
      command: ['bash', '-c', 'stty size; while :; do date +%s%N > beside; sleep 0.02; done'],
      env: {},
      terminal: { rows: 11, columns: 37 },
    })
    let said = ''
    program.stdout.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
    await expect.poll(() => said).toContain('11 37')
    const beat = (name: string) => readFile(join(workspace.dir, name), 'utf8').catch(() => '')
    await expect.poll(() => beat('beside')).not.toBe('')
    expect(await child.freeze()).toBe('frozen')
    const [itself, beside] = [await beat('itself'), await beat('beside')]
    await expect.poll(() => beat('beside')).not.toBe(beside)
    expect(await beat('itself')).toBe(itself)
    const ended = await child.exec({ command: ['bash', '-c', 'setsid sleep 300 & exit 3'], env: {} })
    expect(await ended.exited).toEqual({ code: 3, reason: 'itself' })
    child.kill()
    expect(await child.exited).toMatchObject({ reason: 'killed' })
    expect((await program.exited).reason).toBe('killed')
  })

  test('a program that is not there cannot be started', () => {
    expect(() => start('', { command: ['/no/such/program'] })).toThrow(CannotStart)
  })
})
