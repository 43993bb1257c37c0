/**
 * Knows which runner runs which jobs, from the announcement that each runner sends every second. So a run that continues without its lease can be
 * told from a run whose runner has died.
 */
import type { AgentState } from '#domain/api/server.schema.ts'
import type { Bus } from '#platform/ports/bus.ts'

export interface RunnerPresence {
  /** The ids of jobs that this runner has begun and not ended. */
  readonly running: Set<string>
  /**
   * Whether a job that was delivered before is still running. If there are other runners, the answer is `unknown` until this runner has received its
   * own announcements for 3 seconds without a gap. Before that, silence proves nothing.
   */
  whereabouts(jobId: string): 'running' | 'nowhere' | 'unknown'
  /**
   * Whether another runner announced itself within the last `heardWithinMs`, at most a minute. A runner that is leaving is `gone`: it takes no more
   * jobs. `unknown` until this runner has received its own announcements for that time.
   */
  statusOf(runnerId: string, heardWithinMs: number): 'there' | 'gone' | 'unknown'
  /** Announces from now on that this runner takes no more jobs. */
  leave(): void
  stop(): void
}

const heartbeatIntervalMs = 1_000
const silentMs = 3_000
const rememberedMs = 60_000
/**
 * If more than this many milliseconds lie between two of this runner's own announcements, there is a gap: the bus was unavailable, or this process
 * was suspended.
 */
const gapMs = 2_000

/**
 * Begins to announce this runner, and to listen to the announcements of others. With `isAlone`, no other runner takes jobs from this queue, so this
 * runner knows of all runs. `now` is monotonic, in milliseconds.
 */
export function startRunnerPresence(
  {
    bus,
    runnerId,
    notices,
    agents,
    isAlone,
  }: {
    bus: Bus
    runnerId: string
    notices: readonly string[]
    /** Returns the states of the agents as far as they are known. */
    agents: () => readonly AgentState[]
    isAlone: boolean
  },
  now: () => number = () => performance.now(),
): RunnerPresence {
  const running = new Set<string>()
  const others = new Map<string, { jobs: ReadonlySet<string>; at: number; isLeaving: boolean }>()
  let leaving: { isLeaving?: true } = {}
  let heardSince = Number.POSITIVE_INFINITY
  let heardLast = Number.NEGATIVE_INFINITY

  const unsubscribe = bus.subscribe('runner', (announced) => {
    const at = now()
    if (announced.runnerId !== runnerId) {
      const isLeaving = announced.isLeaving === true
      others.set(announced.runnerId, { jobs: new Set(announced.jobs), at, isLeaving })
      return
    }
    if (at - heardLast > gapMs) heardSince = at
    heardLast = at
    for (const [id, other] of others) if (at - other.at > rememberedMs) others.delete(id)
  })
  const announce = () =>
    bus.publish('runner', { runnerId, notices, agents: agents(), jobs: [...running], ...leaving })
  const heartbeat = setInterval(announce, heartbeatIntervalMs)
  announce()

  /** Whether this runner would have received all announcements of the last `ms` milliseconds. */
  const hasHeardFor = (ms: number): boolean => now() - heardLast <= gapMs && now() - heardSince >= ms

  return {
    running,
    statusOf(id, heardWithinMs) {
      const other = others.get(id)
      if (other && now() - other.at <= heardWithinMs) return other.isLeaving ? 'gone' : 'there'
      return hasHeardFor(heardWithinMs) ? 'gone' : 'unknown'
    },
    whereabouts(jobId) {
      if (running.has(jobId)) return 'running'
      if (isAlone) return 'nowhere'
      const at = now()
      for (const { jobs, at: heard } of others.values())
        if (at - heard <= silentMs && jobs.has(jobId)) return 'running'
      return hasHeardFor(silentMs) ? 'nowhere' : 'unknown'
    },
    leave() {
      leaving = { isLeaving: true }
      announce()
    },
    stop() {
      clearInterval(heartbeat)
      unsubscribe()
    },
  }
}
