/** The sandbox with a container engine: a container for each run, with its own user, process tree, network and file system. */
import { CannotStart } from '#platform/childProcess.ts'
import { mirrorObjectsInSandbox } from '../../workspace/workspaceGit.ts'
import { accountFiles, sandboxPaths, checkedBind, commandEnvironment, environmentOf } from '../layout.ts'
import { containerGit } from './git.ts'
import { engineMount, type ContainerOptions } from './options.ts'
import { engineSees } from './createRequest.ts'
import { startContainer } from './containerProcess.ts'
import type { Bind, Sandbox, SandboxedProcess, SandboxEnd, SandboxSpec } from '../port.ts'

export interface ContainerSandbox extends Sandbox {
  readonly kind: 'container'
  /** Ends the containers for git, together with running calls. */
  close(): Promise<void>
}

export function containerSandbox(options: ContainerOptions): ContainerSandbox {
  const git = containerGit(options)
  return {
    kind: 'container',
    imageId: options.image.id,
    run: (spec) => startSandbox(options, spec),
    paths: () => sandboxPaths,
    // If the engine cannot see `source` on its machine, the image contains the file at the same path, `source`. Otherwise the file is mounted at
    // `target`.
    seenAs: ({ source, target }) => (engineSees(options.shared, source) === undefined ? source : target),
    gitFor: git.for,
    close: git.close,
  }
}

const notEntered = 'no other program can be started in a sandbox that is a container'

function startSandbox(options: ContainerOptions, spec: SandboxSpec): SandboxedProcess {
  const { workspace, limits } = spec
  const user = workspace.owner ?? options.ownUser
  const isShared = ({ source }: Bind): boolean => engineSees(options.shared, source) !== undefined
  const shown = [
    ...spec.readOnly.map(checkedBind).filter(isShared),
    // Sockets are never in the image, so they are always mounted.
    ...spec.sockets.map(checkedBind),
  ]
  let reason: SandboxEnd = 'itself'
  let isOver = false
  const end = (why: SandboxEnd): void => {
    if (isOver) return
    if (reason === 'itself') reason = why
    container.end()
  }
  const container = startContainer(options, {
    plan: {
      user,
      capabilities: [],
      mounts: [
        engineMount(options, workspace.mirrorObjects, mirrorObjectsInSandbox),
        engineMount(options, workspace.dir, sandboxPaths.tree, 'write'),
        engineMount(options, workspace.homeDir, sandboxPaths.home, 'write'),
        ...shown.map(({ source, target }) => engineMount(options, source, target)),
      ],
      limits,
      // `staying` counts the processes that survive a freeze. The sandbox of a person's command has no `helperCount`, and is never frozen.
      staying: spec.helperCount === undefined ? 0 : 1 + spec.helperCount,
      command: spec.command,
      startIn: sandboxPaths.tree,
    },
    env: environmentOf(spec.env, commandEnvironment),
    files: accountFiles(user),
    stdin: spec.stdin,
    onOutOfMemory: () => end('memory_limit'),
  })
  const wall = setTimeout(end, limits.wallMs, 'time_limit')
  return {
    pid: null,
    stdin: container.stdin,
    stdout: container.stdout,
    stderr: container.stderr,
    exited: container.exited.then((code) => {
      clearTimeout(wall)
      isOver = true
      return { code, signal: null, reason }
    }),
    interrupt: container.interrupt,
    kill: () => end('killed'),
    exec: ({ command }) => Promise.reject(new CannotStart(command[0], new Error(notEntered))),
    programs: () => [],
    listening: async () => [],
    settled: spec.helperCount === undefined ? Promise.resolve() : container.settled,
    async freeze() {
      if (await container.freeze()) return 'frozen'
      end('killed')
      await container.exited
      return 'ended'
    },
    thaw: container.thaw,
  }
}
