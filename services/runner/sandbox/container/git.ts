/**
 * Runs git in a container that sees only the task's workspace and mirror, so that files which an agent plants, or changes while git reads, cannot
 * lead git elsewhere. Starting a container takes a while and git is run often, so a container is kept for some time and takes calls on a socket.
 */
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '#platform/childProcess.ts'
import { gitArguments, gitEnvironment, passedThrough, type Git } from '../../workspace/git/git.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { sandboxSearchPath, gitLimits } from '../layout.ts'
import { callScript, startCall } from './calls.ts'
import { engineMount, type ContainerOptions } from './options.ts'
import { engineSees } from './createRequest.ts'
import { startContainer, type StartedContainer } from './containerProcess.ts'

/** How long a container waits for the next call before it is ended. */
const idleMs = 20_000
const folderInside = '/run/flightdeck'
const nodeInside = '/opt/flightdeck/node'

/** A container that takes calls of git at `socketPath`. */
interface ReadyContainer {
  readonly socketPath: string
  readonly container: StartedContainer
}

interface GitContainer {
  /** Resolves when the container takes calls; rejects when it cannot take any. */
  readonly ready: Promise<ReadyContainer>
  /** Identifies the workspace that the container was made for. The paths cannot do that, because a recreated workspace has the same paths. */
  readonly fingerprint: string
  calls: number
  idle: NodeJS.Timeout | undefined
}

export function containerGit(options: ContainerOptions) {
  const containers = new Map<string, GitContainer>()
  const ending = new Set<Promise<unknown>>()

  const drop = (key: string, gitContainer: GitContainer): void => {
    if (containers.get(key) === gitContainer) containers.delete(key)
    clearTimeout(gitContainer.idle)
    const gone: Promise<unknown> = gitContainer.ready
      .then(({ container }) => {
        container.end()
        return container.exited
      })
      .catch(() => undefined)
      .finally(() => ending.delete(gone))
    ending.add(gone)
  }
  const containerFor = async (key: string, workspace: Workspace): Promise<GitContainer> => {
    const fingerprint = await fingerprintOf(workspace)
    const known = containers.get(key)
    if (known?.fingerprint === fingerprint) return known
    if (known?.calls === 0) drop(key, known)
    const gitContainer: GitContainer = {
      ready: startGitContainer(options, workspace),
      fingerprint,
      calls: 0,
      idle: undefined,
    }
    containers.set(key, gitContainer)
    const gone = (): void => drop(key, gitContainer)
    gitContainer.ready.then(({ container }) => container.exited.then(gone), gone)
    return gitContainer
  }

  return {
    /** Returns git for a workspace. Its calls reject when the container cannot be made. */
    for:
      (workspace: Workspace): Git =>
      async (call) => {
        const key = workspace.privateGitDir
        const gitContainer = await containerFor(key, workspace)
        gitContainer.calls += 1
        clearTimeout(gitContainer.idle)
        try {
          const { socketPath } = await gitContainer.ready
          const command = {
            file: 'git',
            args: gitArguments(call),
            env: gitEnvironment(call, sandboxSearchPath),
          }
          return await runToEnd(startCall(socketPath, { ...command, hasInput: call.input !== undefined }), {
            timeoutMs: call.timeoutMs ?? 60_000,
            maxOutputBytes: call.maxOutputBytes ?? 16 * 1024 * 1024,
            ...passedThrough(call),
          })
        } finally {
          gitContainer.calls -= 1
          if (gitContainer.calls === 0 && containers.get(key) !== gitContainer) drop(key, gitContainer)
          else if (gitContainer.calls === 0)
            gitContainer.idle = setTimeout(drop, idleMs, key, gitContainer).unref()
        }
      },
    /** Ends all containers, together with running calls. */
    async close(): Promise<void> {
      for (const [key, gitContainer] of containers) drop(key, gitContainer)
      await Promise.all(ending)
    },
  }
}

async function fingerprintOf({ dir, privateGitDir, mirrorDir }: Workspace): Promise<string> {
  const found = await Promise.all([dir, privateGitDir, mirrorDir].map((path) => stat(path)))
  return [mirrorDir, ...found.map(({ ino, birthtimeMs }) => `${ino}-${birthtimeMs}`)].join(' ')
}

async function startGitContainer(
  options: ContainerOptions,
  { mirrorDir, dir, privateGitDir, owner }: Workspace,
): Promise<ReadyContainer> {
  const folder = await options.scratch.make()
  const { shared, node, ownUser } = options
  const isShared = engineSees(shared, node) !== undefined
  const container = startContainer(options, {
    plan: {
      // If the tree has an owner of its own, git runs as user 0 of the container, who may read and write the files of others but has no other right
      // of root.
      user: owner ? { uid: 0, gid: 0 } : ownUser,
      capabilities: owner ? ['DAC_OVERRIDE'] : [],
      staying: 0,
      mounts: [
        engineMount(options, mirrorDir, mirrorDir),
        engineMount(options, dir, dir),
        engineMount(options, privateGitDir, privateGitDir, 'write'),
        engineMount(options, folder, folderInside, 'write'),
        ...(isShared ? [engineMount(options, node, nodeInside)] : []),
      ],
      limits: gitLimits,
      command: [isShared ? nodeInside : node, '-e', callScript, `${folderInside}/git.sock`],
      startIn: '/',
    },
    env: { PATH: sandboxSearchPath },
    files: {},
    stdin: 'ignore',
    onOutOfMemory: () => undefined,
  })
  const cleared = container.exited.then(() => rm(folder, { recursive: true, force: true }))
  cleared.catch(() => undefined)
  let complaint = ''
  container.stderr.on(
    'data',
    (chunk: Buffer) => (complaint = (complaint + chunk.toString('utf8')).slice(0, 500)),
  )
  const isReady = new Promise<boolean>((resolve) => {
    container.stdout.once('data', () => resolve(true))
    container.stdout.once('end', () => resolve(false))
  })
  container.stdout.resume()
  if (await isReady) return { socketPath: join(folder, 'git.sock'), container }
  container.end()
  await container.exited
  throw new Error(complaint.trim() || 'the container for git ended at once')
}
