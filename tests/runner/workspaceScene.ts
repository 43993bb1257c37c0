/** A folder with a real remote repository in it, and a task's workspace made from that, for tests. */
import { rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gitOrThrow, gitText, hostGit } from '../../services/runner/workspace/git/git.ts'
import type { HostGit } from '../../services/runner/workspace/git/git.ts'
import { openMirrors } from '../../services/runner/workspace/git/mirror.ts'
import type { Mirror } from '../../services/runner/workspace/git/mirror.ts'
import { openSandboxUsers } from '../../services/runner/workspace/sandboxUsers.ts'
import { createOrFindWorkspace } from '../../services/runner/workspace/createWorkspace.ts'
import type { Workspace } from '../../services/runner/workspace/workspace.ts'

export const testPath = '/usr/local/bin:/usr/bin:/bin'
export const testTaskId = '0199c6c2-1111-7000-8000-000000000001'
export const testGit: HostGit = hostGit({ program: 'git', path: testPath })

/** Handles a fault that must not occur in a test. */
export const unexpected = (fault: unknown): never => {
  throw fault
}

export interface Scene {
  readonly root: string
  /** The path of the bare remote, which is also its address. */
  readonly remote: string
  /** Commits files on a branch of the remote, as another person would; `null` removes a file. Returns the commit. */
  commit(files: Readonly<Record<string, string | Uint8Array | null>>, branch?: string): Promise<string>
  refresh(): Promise<Mirror>
  prepare(asked?: {
    readonly taskId?: string
    readonly baseBranch?: string
    readonly workingBranch?: string
    readonly lastBase?: string
    readonly isToBeRestored?: boolean
  }): Promise<Workspace>
  remove(): Promise<void>
}

const person = {
  GIT_AUTHOR_NAME: 'Ada Lovelace',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada Lovelace',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
}

/** Creates a scene. The remote has the files on `main`, and is empty without files. */
export async function makeScene(files?: Readonly<Record<string, string | Uint8Array>>): Promise<Scene> {
  const root = await mkdtemp(join(tmpdir(), 'flightdeck-scene-'))
  const remote = join(root, 'remote.git')
  await cp(await remoteWith(files), remote, { recursive: true })
  return sceneIn(root, remote)
}

const remotes = new Map<string, Promise<string>>()
/** A remote with these files, which all scenes of a process copy, since making one takes half a dozen git processes. */
function remoteWith(files: Parameters<typeof makeScene>[0]): Promise<string> {
  const key = JSON.stringify(files ?? null)
  const made = remotes.get(key) ?? makeRemote(files)
  remotes.set(key, made)
  return made
}

async function makeRemote(files: Parameters<typeof makeScene>[0]): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'flightdeck-remote-'))
  process.once('exit', () => rmSync(root, { recursive: true, force: true }))
  const remote = join(root, 'remote.git')
  const args = ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', '--', remote]
  await gitOrThrow(testGit, { args })
  if (files) await sceneIn(root, remote).commit(files)
  return remote
}

function sceneIn(root: string, remote: string): Scene {
  const mirrors = openMirrors({ root, git: testGit, onFault: unexpected })
  const scene: Scene = {
    root,
    remote,
    async commit(changed, branch = 'main') {
      const workTree = await mkdtemp(join(root, 'person-'))
      const on = { gitDir: remote, workTree, env: { ...person, GIT_INDEX_FILE: `${workTree}.index` } }
      const before = await testGit({
        ...on,
        args: ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`],
      })
      const parent = before.code === 0 ? before.stdout.toString().trim() : undefined
      if (parent) await gitOrThrow(testGit, { ...on, args: ['read-tree', '-m', '-u', parent] })
      for (const [path, content] of Object.entries(changed)) {
        if (content === null) await rm(join(workTree, path))
        else await writeIn(workTree, path, content)
      }
      await gitOrThrow(testGit, { ...on, args: ['add', '-A', '--force', '--', '.'] })
      const tree = await gitText(testGit, { ...on, args: ['write-tree'] })
      const args = ['commit-tree', ...(parent ? ['-p', parent] : []), '-m', 'A change', tree]
      const commit = await gitText(testGit, { ...on, args })
      await gitOrThrow(testGit, { gitDir: remote, args: ['update-ref', `refs/heads/${branch}`, commit] })
      await rm(workTree, { recursive: true })
      await rm(`${workTree}.index`)
      return commit
    },
    async refresh() {
      const result = await mirrors.refresh({
        url: remote,
        owner: 'ada',
        name: 'sample',
        id: '7',
        timeoutMs: 30_000,
      })
      if (result.kind !== 'ready') throw new Error(`the mirror is not ready: ${result.kind}`)
      return result.mirror
    },
    async prepare(asked = {}) {
      const taskId = asked.taskId ?? testTaskId
      const result = await createOrFindWorkspace({
        checkCheckout: async () => undefined,
        git: testGit,
        path: testPath,
        root,
        taskId,
        mirror: await scene.refresh(),
        baseBranch: asked.baseBranch ?? 'main',
        workingBranch: asked.workingBranch ?? 'flightdeck/a-task-12345678',
        lastBase: asked.lastBase,
        ...(asked.isToBeRestored && { isToBeRestored: true }),
        originUrl: 'http://localhost:8081/ada/sample.git',
        identity: { name: 'claude', email: 'noreply@anthropic.com' },
        owner: process.getuid?.() === 0 ? await openSandboxUsers(root).userOf(taskId) : undefined,
      })
      if (result.kind !== 'ready') throw new Error(`the workspace is not ready: ${result.kind}`)
      return result.workspace
    },
    remove: () => rm(root, { recursive: true, force: true }),
  }
  return scene
}

/** Writes a file into a tree, with the folders it needs. */
export async function writeIn(tree: string, path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(tree, path)), { recursive: true })
  await writeFile(join(tree, path), content)
}
