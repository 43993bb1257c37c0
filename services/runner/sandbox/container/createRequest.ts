/** The request to the engine: everything that makes the sandbox, in one body. Pure. */
import type { SandboxUser } from '../../workspace/workspace.ts'
import type { ContainerImage } from './engine.ts'
import { firstProcess } from './init.ts'
import type { SandboxLimits } from '../port.ts'
import { seccompProfile } from '../systemCalls.ts'

/** Something of the engine's machine that is shown inside. */
export interface ContainerMount {
  /** As the engine's machine names it. */
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
}

export interface ContainerPlan {
  readonly image: ContainerImage
  /** By which it is found again. */
  readonly labels: Readonly<Record<string, string>>
  readonly user: SandboxUser
  /** Without the prefix `CAP_`. */
  readonly capabilities: readonly string[]
  readonly mounts: readonly ContainerMount[]
  readonly limits: Omit<SandboxLimits, 'wallMs'>
  /** Where the pipe from the runner is mounted. */
  readonly line: string
  /** Where the pipe to the runner is mounted. */
  readonly answers: string
  /** How many processes stay when it is frozen; 0 where it never is. */
  readonly staying: number
  readonly command: readonly [string, ...string[]]
  readonly startIn: string
}

const filter = JSON.stringify(seccompProfile('sandbox'))

/** The body of a request to make the container. */
export function containerBody(plan: ContainerPlan): object {
  const { image, user, limits } = plan
  const { memoryBytes, processes, fileSizeBytes } = limits
  const temporaryBytes = Math.floor(memoryBytes / 4)
  // The kernel counts what lies in the two temporary folders together with what the processes hold.
  const allBytes = memoryBytes + 2 * temporaryBytes
  return {
    Image: image.id,
    Labels: plan.labels,
    User: `${user.uid}:${user.gid}`,
    Hostname: 'flightdeck',
    WorkingDir: plan.startIn,
    // Nothing of the image's own environment comes in; the command gets its environment by its input.
    Env: [],
    Entrypoint: ['/usr/bin/env', '-i', ...firstProcess(plan.line, plan.answers, plan.staying)],
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
      // Replaces the engine's own profile, which allows more or less depending on its version.
      SecurityOpt: ['no-new-privileges', `seccomp=${filter}`],
      PidsLimit: processes,
      Memory: allBytes,
      MemorySwap: allBytes,
      // A tenth of what a container gets by default: the server comes first when processors are short, and also when memory is.
      CpuShares: 102,
      OomScoreAdj: 500,
      ShmSize: temporaryBytes,
      Tmpfs: {
        // Otherwise the engine would make a volume for each container. The user may pass through: mounts may lie below.
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
      // What it prints is in the task's log; the engine keeps nothing.
      LogConfig: { Type: 'none', Config: {} },
    },
  }
}

function coverFor({ uid, gid }: SandboxUser): string {
  return `ro,nosuid,nodev,noexec,size=4k,uid=${uid},gid=${gid},mode=0500`
}

/**
 * The path on the engine's machine of what this process sees at `path`; `undefined` for what is not there: then it is in the image, at the same
 * path. `shared` maps folders of this process to those of the engine; without any, both see the same.
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
