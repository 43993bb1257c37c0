/**
 * Makes the body of the request by which the engine creates a container. It defines the sandbox, apart from the command's environment and time limit.
 * Has no side effects.
 */
import type { SandboxUser } from '../../workspace/workspace.ts'
import type { ContainerImage } from './engine.ts'
import { firstProcess } from './init.ts'
import type { SandboxLimits } from '../port.ts'
import { seccompProfile } from '../systemCalls.ts'

/** A file or folder of the engine's machine that is visible inside of the container. */
export interface ContainerMount {
  /** The path on the engine's machine. */
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
}

export interface ContainerPlan {
  readonly image: ContainerImage
  /** Labels by which the container can be found. */
  readonly labels: Readonly<Record<string, string>>
  readonly user: SandboxUser
  /** Names of capabilities without the prefix `CAP_`. */
  readonly capabilities: readonly string[]
  readonly mounts: readonly ContainerMount[]
  readonly limits: Omit<SandboxLimits, 'wallMs'>
  /** The path of the pipe from the runner. */
  readonly pipeToInit: string
  /** The path of the pipe to the runner. */
  readonly pipeFromInit: string
  /** How many processes stay after a freeze; 0 if the container is never frozen. */
  readonly staying: number
  readonly command: readonly [string, ...string[]]
  readonly startIn: string
}

const filter = JSON.stringify(seccompProfile('sandbox'))

/** The body for `create` of `ContainerEngine`. */
export function containerBody(plan: ContainerPlan): object {
  const { image, user, limits } = plan
  const { memoryBytes, processes, fileSizeBytes } = limits
  const temporaryBytes = Math.floor(memoryBytes / 4)
  // The kernel counts the contents of the two temporary folders together with the memory of processes.
  const allBytes = memoryBytes + 2 * temporaryBytes
  return {
    Image: image.id,
    Labels: plan.labels,
    User: `${user.uid}:${user.gid}`,
    Hostname: 'flightdeck',
    WorkingDir: plan.startIn,
    // Nothing of the image's environment is used; the command gets its environment through its input.
    Env: [],
    Entrypoint: ['/usr/bin/env', '-i', ...firstProcess(plan.pipeToInit, plan.pipeFromInit, plan.staying)],
    Cmd: plan.command,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      AutoRemove: true,
      NetworkMode: 'none',
      IpcMode: 'private',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      CapAdd: plan.capabilities,
      // Replaces the engine's own profile, whose permissions depend on its version.
      SecurityOpt: ['no-new-privileges', `seccomp=${filter}`],
      PidsLimit: processes,
      Memory: allBytes,
      MemorySwap: allBytes,
      // A tenth of a container's default: the server has priority when processor time is short. `OomScoreAdj` has the same purpose when memory is
      // short.
      CpuShares: 102,
      OomScoreAdj: 500,
      ShmSize: temporaryBytes,
      Tmpfs: {
        // Covers the folders that the image declares as volumes: the engine would make a new volume for each of them. The user may enter these
        // folders, since mounts may be below them.
        ...Object.fromEntries(image.volumes.map((path) => [path, coverFor(user)])),
        '/tmp': `rw,nosuid,nodev,exec,size=${temporaryBytes},mode=1777`,
      },
      Mounts: plan.mounts.map(({ source, target, readOnly }) => ({
        Type: 'bind',
        Source: source,
        Target: target,
        ReadOnly: readOnly,
        BindOptions: { Propagation: 'rprivate' },
      })),
      Ulimits: [
        { Name: 'fsize', Soft: fileSizeBytes, Hard: fileSizeBytes },
        { Name: 'data', Soft: memoryBytes, Hard: memoryBytes },
        { Name: 'core', Soft: 0, Hard: 0 },
      ],
      // The output is in the task's log, so the engine stores nothing.
      LogConfig: { Type: 'none', Config: {} },
    },
  }
}

function coverFor({ uid, gid }: SandboxUser): string {
  return `ro,nosuid,nodev,noexec,size=4k,uid=${uid},gid=${gid},mode=0500`
}

/**
 * The path that a file or folder has on the engine's machine, if this process sees it at `path`. `undefined` if the engine does not see the file or
 * folder, which must then be in the image at the same path. `shared` maps folders of this process to those of the engine; if it is empty, both see
 * the same paths.
 */
export function engineSees(shared: Readonly<Record<string, string>>, path: string): string | undefined {
  const folders = Object.keys(shared)
  if (folders.length === 0) return path
  const holding = folders
    .filter((folder) => path === folder || path.startsWith(`${folder}/`))
    .toSorted((one, other) => other.length - one.length)[0]
  const there = holding === undefined ? undefined : shared[holding]
  return holding === undefined || there === undefined ? undefined : `${there}${path.slice(holding.length)}`
}
