/** Sandboxes that are containers, on a real engine: what every sandbox must do, and what only an engine could break. */
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeEgress } from '../../runner/egress.contract.ts'
import { describeSandbox } from '../../runner/sandbox.contract.ts'
import local from '../../../scripts/containers.json'
import { imageName, sandboxDockerfile } from '../../../services/runner/sandbox/container/image.ts'
import { detectContainers } from '../../../services/runner/sandbox/container/detect.ts'
import { containerEngine } from '../../../services/runner/sandbox/container/engine.ts'
import { runnerLabel } from '../../../services/runner/sandbox/container/options.ts'
import type { ContainerSandbox } from '../../../services/runner/sandbox/container/container.ts'
import type { SandboxSpec } from '../../../services/runner/sandbox/port.ts'
import { findTestSandbox, noTestSandbox, testImage } from '../../runner/testSandbox.ts'
import { openScratch, type Scratch } from '../../../services/runner/scratch.ts'
import { gitText } from '../../../services/runner/workspace/git/git.ts'
import { describeSandboxedGit, describeHostileTree } from '../../runner/hostileTree.ts'
import { makeScene, testPath, type Scene } from '../../runner/workspaceScene.ts'
import type { Workspace } from '../../../services/runner/workspace/workspace.ts'
import { sandboxEngine } from '../../containers/sandboxEngine.ts'
import { docker } from '../../containers/images.ts'

const found = await sandboxEngine()
const engine = 'missing' in found ? undefined : found
const testSandbox = 'missing' in found ? noTestSandbox(found.missing) : await findTestSandbox(found)
afterAll(() => testSandbox.close())

describeSandbox(`by a container engine${testSandbox.note}`, testSandbox.sandbox, engine)
describeEgress(testSandbox)
describeHostileTree(`in a container${testSandbox.note}`, testSandbox.sandbox?.gitFor)
describeSandboxedGit(`in a container${testSandbox.note}`, testSandbox.sandbox?.gitFor)

describe.skipIf(!engine)(`a sandbox by a container engine${testSandbox.note}`, () => {
  const { socketPath, image } = engine ?? { socketPath: '', image: '' }
  const limits = { memoryBytes: 1024 ** 3, processes: 64, fileSizeBytes: 1024 ** 2, wallMs: 30_000 }
  const runnerId = randomUUID()
  let scene: Scene
  let workspace: Workspace
  let root: string
  let scratch: Scratch
  let sandbox: ContainerSandbox
  const given = (folder: string) => ({
    root: folder,
    runnerId: randomUUID(),
    scratch,
    shared: {},
    path: testPath,
    node: process.execPath,
  })
  const detect = async (asked: { socketPath: string; image: string }) =>
    detectContainers({
      sockets: [asked.socketPath],
      image: testImage(asked.image),
      ...given(root),
      runnerId,
    })
  beforeAll(async () => {
    scratch = await openScratch(runnerId)
    root = await mkdtemp(join(tmpdir(), 'flightdeck-containers-'))
    scene = await makeScene({ 'README.md': '# Sample\n' })
    workspace = await scene.prepare()
    const detected = await detect({ socketPath, image })
    if (detected.kind === 'fails') throw new Error(detected.why)
    sandbox = detected.sandbox
  })
  afterAll(async () => {
    await sandbox?.close()
    await scene?.remove()
    await rm(root, { recursive: true, force: true })
  })

  const start = (script: string, asked: Partial<SandboxSpec> = {}) =>
    sandbox.run({
      command: ['bash', '-c', script],
      env: {},
      workspace,
      readOnly: [],
      sockets: [],
      stdin: 'ignore',
      limits,
      ...asked,
    })
  const shell = async (script: string) => {
    const child = start(script)
    const [stdout, stderr, exit] = await Promise.all([text(child.stdout), text(child.stderr), child.exited])
    return { stdout, stderr, ...exit }
  }
  const ours = () => containerEngine(socketPath).labelled(runnerLabel, runnerId)

  test('has no way to the engine: no socket is in it but those that were bound', async () => {
    const { stdout } = await shell(
      'find / -xdev -type s 2>/dev/null; ls /var/run/docker.sock /run/*.sock 2>/dev/null',
    )
    expect(stdout).toBe('')
  })

  test('is told to the engine without its environment, and kept by it without its output', async () => {
    const child = start('echo said in the sandbox; sleep 30', { env: { TOKEN: 'run-token-9876' } })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const [id = ''] = await ours()
    const told = await docker('inspect', id)
    expect(told).not.toContain('run-token-9876')
    expect(JSON.parse(told)).toMatchObject([
      { HostConfig: { NetworkMode: 'none', ReadonlyRootfs: true, CapDrop: ['ALL'] }, LogPath: '' },
    ])
    const data = (await docker('info', '--format', '{{.DockerRootDir}}')).trim()
    // 1: nothing was found.
    const searched = spawnSync('grep', ['-rl', 'run-token-9876', `${data}/containers/${id}`])
    expect({ found: searched.stdout.toString(), status: searched.status }).toEqual({ found: '', status: 1 })
    child.kill()
    await child.exited
  })

  test('has a first process that nothing inside can end, stop or speak for', async () => {
    const script =
      'kill -9 1; kill -STOP 1; echo end > /run/flightdeck.line; chmod 666 /run/flightdeck.line; echo alive; sleep 30'
    const child = start(script)
    const complaints = text(child.stderr)
    expect(String(await new Promise((resolve) => child.stdout.once('data', resolve)))).toBe('alive\n')
    child.kill()
    expect(await child.exited).toMatchObject({ reason: 'killed' })
    expect(await complaints).toMatch(/flightdeck\.line: Permission denied[^]*(Read-only|not permitted)/)
  })

  test('takes no more input than it reads', async () => {
    const child = start('sleep 30', { stdin: 'pipe' })
    let written = 0
    const block = Buffer.alloc(64 * 1024, 'x')
    const { stdin } = child
    if (!stdin) throw new Error('there is no input')
    // What fits between here and there is a few megabytes at most.
    while (written < 64 * 1024 ** 2) {
      if (stdin.write(block)) {
        written += block.length
        continue
      }
      const drained = await Promise.race([
        new Promise<boolean>((resolve) => stdin.once('drain', () => resolve(true))),
        new Promise<boolean>((resolve) => setTimeout(resolve, 1_000, false)),
      ])
      if (!drained) break
      written += block.length
    }
    expect(written).toBeLessThan(16 * 1024 ** 2)
    child.kill()
    await child.exited
  })

  test('is gone from the engine when it has ended', async () => {
    await shell('true')
    await expect.poll(ours).toEqual([])
  })

  test('that cannot be made says why as its failure', async () => {
    const gone = { ...workspace, dir: join(scene.root, 'not-there') }
    const child = start('true', { workspace: gone })
    child.stdout.resume()
    const [told, exit] = await Promise.all([text(child.stderr), child.exited])
    expect(told).toMatch(/^The sandbox cannot be made: .*not-there/)
    expect(exit).toEqual({ code: 125, signal: null, reason: 'itself' })
  })

  test('is taken away at the start of a runner that was killed before', async () => {
    await docker('create', '--label', `${runnerLabel}=${runnerId}`, image, 'sleep', '1000')
    expect(await ours()).toHaveLength(1)
    expect(await detect({ socketPath, image })).toMatchObject({
      kind: 'works',
      memory: expect.stringMatching(/^The memory of a sandbox is counted by the kernel/),
    })
    await expect.poll(ours).toEqual([])
  })

  test('cannot be had without an engine or an image, which is said', async () => {
    const without = await detect({ socketPath: join(root, 'none.sock'), image })
    expect(without).toMatchObject({ kind: 'fails', why: expect.stringContaining('there is none at') })
    const unknown = await detect({ socketPath, image: 'flightdeck-local/no-such' })
    expect(unknown).toMatchObject({
      kind: 'fails',
      why: expect.stringContaining('there is no image flightdeck-local/no-such'),
    })
  })

  test('of our own image, which is built once where the engine has none', async () => {
    const base = process.env['NODE_IMAGE'] ?? local.images.node
    const dockerfile = `${sandboxDockerfile.replace('node:24-bookworm-slim', base)}# ${randomUUID()}\n`
    const name = imageName(dockerfile)
    const told: string[] = []
    const built = () =>
      detectContainers({
        ...given(scene.root),
        sockets: [join(root, 'none.sock'), socketPath],
        image: { named: null, dockerfile, buildArguments: {}, progress: (line) => told.push(line) },
      })
    try {
      const first = await built()
      expect(first).toMatchObject({ kind: 'works' })
      expect(told).toEqual([
        expect.stringContaining(`Building the image for sandboxes, ${name}`),
        expect.stringMatching(/^S(tep|TEP) 1/),
        expect.stringMatching(/^S(tep|TEP) 2/),
      ])
      await built()
      expect(told).toHaveLength(3)
    } finally {
      await docker('image', 'rm', '--force', name)
    }
  }, 600_000)

  test('cannot be had of an image that cannot be built, and what failed is said', async () => {
    const base = process.env['NODE_IMAGE'] ?? local.images.node
    const failing = { ...testImage(''), named: null, dockerfile: `FROM ${base}\nRUN echo no; exit 3\n` }
    expect(await detectContainers({ ...given(scene.root), sockets: [socketPath], image: failing })).toEqual({
      kind: 'fails',
      why: expect.stringMatching(/the build of flightdeck\/sandbox:\w+ failed: .*non-zero code: 3/),
    })
  }, 120_000)

  describe('git in a container', () => {
    test('is asked again in the same one, and leaves none when the sandbox is closed', async () => {
      const git = sandbox.gitFor(workspace)
      await git({ args: ['--version'] })
      const first = await ours()
      await Promise.all([git({ args: ['--version'] }), git({ args: ['--version'] })])
      expect(await ours()).toEqual(first)
      expect(first).toHaveLength(1)
      await sandbox.close()
      await expect.poll(ours).toEqual([])
    })

    test('takes what it is given and gives what it says, whole', async () => {
      const git = sandbox.gitFor(workspace)
      const input = Buffer.alloc(5_000_000, 'line\n')
      const { privateGitDir: gitDir } = workspace
      const id = await gitText(git, { gitDir, args: ['hash-object', '-w', '--stdin'], input })
      const back = await git({ gitDir, args: ['cat-file', 'blob', id] })
      expect(back.stdout.equals(input)).toBe(true)
      expect(await git({ args: ['no-such-command'] })).toMatchObject({ code: 1, endedBy: 'itself' })
    })

    test('is ended by its time, by who asks, and by who has read enough', async () => {
      const git = sandbox.gitFor(workspace)
      const waits = { args: ['hash-object', '--stdin-paths'], input: '/dev/stdin\n' }
      const stuck = { args: ['-c', 'alias.wait=!sleep 30', 'wait'] }
      expect(await git({ ...stuck, timeoutMs: 300 })).toMatchObject({ endedBy: 'time_limit' })
      expect(await git({ ...stuck, signal: AbortSignal.timeout(300) })).toMatchObject({ endedBy: 'aborted' })
      const endless = { args: ['-c', 'alias.say=!yes', 'say'], onStdout: () => 'enough' as const }
      expect(await git(endless)).toMatchObject({ endedBy: 'reader' })
      expect(await git(waits)).toMatchObject({ endedBy: 'itself' })
    })

    test('looks at a workspace that was made anew, and not at the one before', async () => {
      const task = { taskId: 'made-anew' }
      const before = await scene.prepare(task)
      const status = { gitDir: before.privateGitDir, workTree: before.dir, args: ['status', '--porcelain'] }
      await writeFile(join(before.dir, 'before.txt'), 'x')
      expect(await gitText(sandbox.gitFor(before), status)).toBe('?? before.txt')
      await rm(join(before.dir, '..'), { recursive: true })
      const after = await scene.prepare(task)
      await writeFile(join(after.dir, 'after.txt'), 'x')
      expect(await gitText(sandbox.gitFor(after), status)).toBe('?? after.txt')
    })
  })
})
