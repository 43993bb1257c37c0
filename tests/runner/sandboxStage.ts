/** A workspace, and a sandbox in which commands are started there, for tests. */
import { chmod, readdir, readFile } from 'node:fs/promises'
import { afterAll, beforeAll } from 'vitest'
import type {
  Sandbox,
  SandboxedProcess,
  SandboxExit,
  SandboxSpec,
} from '../../services/runner/sandbox/port.ts'
import { birthOf } from '../../services/runner/sandbox/processTree.ts'
import { makeScene, writeIn, type Scene } from './workspaceScene.ts'
import type { Workspace } from '../../services/runner/workspace/workspace.ts'
import type { TestEngine } from './testSandbox.ts'

export const wide = { memoryBytes: 2 * 1024 ** 3, processes: 256, fileSizeBytes: 1024 ** 3, wallMs: 20_000 }

export interface SandboxStage {
  readonly scene: Scene
  readonly workspace: Workspace
  /** The engine of a sandbox that is a container, whose system is that of an image and not of the host. */
  readonly engine: TestEngine | undefined
  start(command: SandboxSpec['command'], asked?: Partial<SandboxSpec>): SandboxedProcess
  /** Runs a script with bash to its end. */
  shell(script: string, asked?: Partial<SandboxSpec>): Promise<Ended>
}

export interface Ended {
  readonly stdout: string
  readonly stderr: string
  readonly exit: SandboxExit
}

/** The scene exists from before the first test of the suite until after the last. */
export function sandboxStage(sandbox: Sandbox | undefined, engine: TestEngine | undefined): SandboxStage {
  let scene: Scene
  let workspace: Workspace
  beforeAll(async () => {
    scene = await makeScene({ 'README.md': '# Sample\n' })
    // Like a server's folder: accessible to its owner only.
    await chmod(scene.root, 0o700)
    workspace = await scene.prepare()
    await writeIn(scene.root, 'data/secret.txt', 'of the server')
  })
  afterAll(() => scene.remove())
  const start: SandboxStage['start'] = (command, asked = {}) => {
    if (!sandbox) throw new Error('there is no sandbox')
    return sandbox.run({
      command,
      env: {},
      workspace,
      readOnly: [],
      sockets: [],
      stdin: 'ignore',
      limits: wide,
      ...asked,
    })
  }
  return {
    get scene() {
      return scene
    },
    get workspace() {
      return workspace
    },
    engine,
    start,
    shell: (script, asked) => ended(start(['bash', '-c', script], asked)),
  }
}

export async function ended(child: SandboxedProcess): Promise<Ended> {
  const [stdout, stderr, exit] = await Promise.all([text(child.stdout), text(child.stderr), child.exited])
  return { stdout, stderr, exit }
}

export async function text(stream: NodeJS.ReadableStream): Promise<string> {
  const parts: Buffer[] = []
  stream.on('data', (chunk: Buffer) => parts.push(chunk))
  await new Promise((resolve) => stream.once('close', resolve))
  return Buffer.concat(parts).toString('utf8')
}

export async function processesOf(workspace: Workspace): Promise<readonly string[]> {
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const mounts = await readFile(`/proc/${pid}/mountinfo`, 'utf8').catch(() => '')
    const isInside = mounts.split('\n').some((line) => {
      const [, , , from = '', at] = line.split(' ')
      // `from` begins where its file system is mounted; other tests running at the same time have workspaces of the same task elsewhere.
      return at === '/workspace' && workspace.dir.endsWith(from)
    })
    if (isInside && (await birthOf(Number(pid))) !== undefined) found.push(pid)
  }
  return found
}
