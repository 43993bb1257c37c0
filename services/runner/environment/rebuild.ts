/** Makes environments of projects without a task: when a person asks, and in the background when lock files of the default branch have changed. */
import { rounds } from '#platform/async/rounds.ts'
import type { RpcRequest, RpcResponse } from '#platform/ports/rpc.ts'
import { stopping, type Stopping } from '../execution/control.ts'
import type { Failed } from '../execution/failure.ts'
import type { AvailableSandbox } from '../deps.ts'
import type { ChangedLocks } from './changedLocks.ts'
import { beginRecord, recordCutShort, type RecordDeps } from './environmentRecord.ts'
import type { EnvironmentKey } from './environmentKey.ts'
import type { Rebuild } from './setUpNewWorkspace.ts'

type Request = RpcRequest<'rebuildEnvironment'>

export interface Rebuilds {
  /** Begins a rebuild that a person asks for, if that is possible. If one of the project is already under way, that one counts. */
  begin(request: Request): Promise<RpcResponse<'rebuildEnvironment'>>
  /**
   * Called when the repository of a project may have changed. A rebuild begins when there is room, if the project's environment was used lately and
   * lock files of the default branch have changed. The same state of the lock files is not tried twice in a row.
   */
  repositoryChanged(request: Request): Promise<void>
  /** The projects with a rebuild that is under way or waits. A project whose lock files are just being compared is not among them. */
  projects(): readonly string[]
  /** Ends the rebuild of a deleted project, which leaves and records nothing. */
  projectDeleted(projectId: string): Promise<void>
  /** Ends all rebuilds, and leaves nothing of them but the record of their end. */
  close(): Promise<void>
}

export interface RebuildDeps extends RecordDeps {
  readonly sandbox: { readonly missing: string } | Pick<Extract<AvailableSandbox, { kind: string }>, 'kind'>
}

/** The operations on repositories and sandboxes that rebuilds need. */
export interface RebuildPorts {
  hasSetup(projectId: string): Promise<boolean>
  /** Whether tasks used an environment of the project lately. */
  isUsed(projectId: string): Promise<boolean>
  /** The keys of environments that tasks of the default branch may use now. */
  usableKeys(request: Request): Promise<readonly EnvironmentKey[]>
  /** Finds changed lock files; `undefined` when nothing has to be made again. */
  changedLocks(request: Request, signal: AbortSignal): Promise<ChangedLocks | undefined>
  /** Sets up a workspace. Returns why the setup did not begin, or broke off without a recorded end; `undefined` when its end is recorded. */
  setUp(rebuild: Rebuild): Promise<Failed | undefined>
}

/**
 * At most this many rebuilds run at once, since each takes as much of the machine as a task, and a person begins only half as many. In the
 * background, there is only one.
 */
const maxAtOnce = 2

interface Begun extends Request, Partial<ChangedLocks> {
  readonly trigger: 'rebuild' | 'lock_files'
}

/** Opens the rebuilds, and records the end of the setups that a killed process has left. */
export async function openRebuilds(deps: RebuildDeps, ports: RebuildPorts): Promise<Rebuilds> {
  await recordCutShort(deps)
  const { sandbox } = deps
  const hasSandbox = !('missing' in sandbox) && sandbox.kind !== 'none'
  const running = openRunning(deps, ports)
  const background = openBackground(deps, ports, running)
  return {
    async begin(request) {
      if (!hasSandbox) return { kind: 'no_sandbox', position: null }
      const hasSetup = await ports.hasSetup(request.projectId)
      if (running.projects().includes(request.projectId)) return { kind: 'begun', position: null }
      if (!running.hasRoomFor(request.ownerId)) return { kind: 'busy', position: null }
      if (!hasSetup) return { kind: 'no_setup', position: null }
      return { kind: 'begun', position: await running.start({ ...request, trigger: 'rebuild' }) }
    },
    async repositoryChanged(request) {
      if (hasSandbox && (await ports.isUsed(request.projectId))) background.add(request)
    },
    projects: () => [...new Set([...running.projects(), ...background.projects()])],
    async projectDeleted(projectId) {
      background.forget(projectId)
      await running.stop(projectId, 'deleted')
    },
    async close() {
      await Promise.all([
        background.close(),
        ...running.projects().map((projectId) => running.stop(projectId, 'stopping')),
      ])
    },
  }
}

type RunningRebuilds = ReturnType<typeof openRunning>

function openRunning(deps: RebuildDeps, ports: RebuildPorts) {
  const running = new Map<
    string,
    { readonly ownerId: string; readonly stop: Stopping; readonly done: Promise<void> }
  >()

  async function run(
    begun: Begun,
    stop: Stopping,
    onBegun: (position: string | null) => void,
  ): Promise<void> {
    const { projectId, ownerId, trigger, changed, key, usedAt } = begun
    const usable = key ? [key] : await ports.usableKeys(begun).catch(() => [])
    const record = await beginRecord(deps, { projectId, trigger, changed, usable })
    try {
      onBegun(record.position)
      const unready = await ports.setUp({ projectId, ownerId, stop, record, usedAt })
      if (unready && stop.reason() !== 'deleted')
        await record.failed('interrupted', { reason: unready.reason, log: '' })
    } finally {
      await record.close()
    }
  }
  return {
    projects: () => [...running.keys()],
    hasRoom: () => running.size < maxAtOnce,
    hasRoomFor: (ownerId: string) =>
      running.size < maxAtOnce &&
      [...running.values()].filter((each) => each.ownerId === ownerId).length < maxAtOnce / 2,
    /** Resolves when the rebuild of the project has ended, or when none runs. */
    ended: async (projectId: string) => running.get(projectId)?.done,
    anyEnded: () => Promise.race([...running.values()].map(({ done }) => done)),
    /** Returns the position at which the record of the rebuild began. */
    start(begun: Begun): Promise<string | null> {
      const { projectId, ownerId } = begun
      const stop = stopping()
      return new Promise((resolve, reject) => {
        const done = run(begun, stop, resolve)
          .catch((fault: unknown) => {
            deps.logger.warn({ err: fault, projectId }, 'failed to make an environment')
            reject(fault)
          })
          .finally(() => running.delete(projectId))
        running.set(projectId, { ownerId, stop, done })
      })
    },
    async stop(projectId: string, reason: 'deleted' | 'stopping'): Promise<void> {
      const found = running.get(projectId)
      found?.stop.stop(reason)
      await found?.done
    },
  }
}

/** Makes environments again, one after the other. However often a project's repository changes, at most one rebuild of it waits. */
function openBackground({ logger }: RebuildDeps, ports: RebuildPorts, running: RunningRebuilds) {
  const waiting = new Map<string, Request>()
  /** By project, the key of the environment that was tried last. */
  const tried = new Map<string, string>()
  const closing = new AbortController()

  async function rebuildIfChanged(request: Request): Promise<void> {
    const { projectId } = request
    const { signal } = closing
    await running.ended(projectId)
    while (!running.hasRoom()) await running.anyEnded()
    const changed = signal.aborted ? undefined : await ports.changedLocks(request, signal)
    if (!changed || signal.aborted || tried.get(projectId) === changed.key.setupAndLocks) return
    // A person may have begun other rebuilds meanwhile.
    if (running.projects().includes(projectId) || !running.hasRoom()) return rebuildIfChanged(request)
    tried.set(projectId, changed.key.setupAndLocks)
    await running.start({ ...request, ...changed, trigger: 'lock_files' })
    await running.ended(projectId)
  }
  const background = rounds(async () => {
    for (const [projectId, request] of waiting) {
      waiting.delete(projectId)
      if (closing.signal.aborted) return
      await rebuildIfChanged(request).catch((fault: unknown) =>
        logger.warn({ err: fault, projectId }, 'failed to make an environment again in the background'),
      )
    }
  })
  return {
    add(request: Request): void {
      waiting.set(request.projectId, request)
      background.within(0)
    },
    forget(projectId: string): void {
      waiting.delete(projectId)
      tried.delete(projectId)
    },
    projects: () => [...waiting.keys()],
    async close(): Promise<void> {
      closing.abort()
      await background.stop()
    },
  }
}
