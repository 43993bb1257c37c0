/** Who runs what, by what the runners say of themselves each second. It tells a run that goes on without its lease from one that died. */
import type { AgentState } from '#domain/api/agents.ts'
import type { Bus } from '#platform/ports/bus.ts'

export interface RunnerPresence {
  /** What this runner has begun and not ended. */
  readonly running: Set<string>
  /**
   * Whether a job that was given out before still runs. Among others, `unknown` until this runner has heard itself for 3 seconds without a gap: until then
   * nothing follows from what it did not hear.
   */
  whereabouts(jobId: string): 'running' | 'nowhere' | 'unknown'
  /** Whether another runner was heard of within so many milliseconds, at most a minute; `unknown` until this one has heard itself for as long. */
  statusOf(runnerId: string, withinMs: number): 'there' | 'gone' | 'unknown'
  stop(): void
}

const beatMs = 1_000
const silentMs = 3_000
const rememberedMs = 60_000
/** Two beats of one's own further apart than this are a gap: the bus was away, or this process stood still. */
const gapMs = 2_000

/** Begins to tell and to listen. Who `isAlone` with its queue knows all that runs. `now` is monotonic, in milliseconds. */
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
    /** What is known of the agents by now. */
    agents: () => readonly AgentState[]
    isAlone: boolean
  },
  now: () => number = () => performance.now(),
): RunnerPresence {
  const running = new Set<string>()
  const others = new Map<string, { jobs: ReadonlySet<string>; at: number }>()
  let heardSince = Number.POSITIVE_INFINITY
  let heardLast = Number.NEGATIVE_INFINITY

  const unsubscribe = bus.subscribe('runner', (said) => {
    const at = now()
    if (said.runnerId !== runnerId) {
      others.set(said.runnerId, { jobs: new Set(said.jobs), at })
      return
    }
    if (at - heardLast > gapMs) heardSince = at
    heardLast = at
    for (const [id, other] of others) if (at - other.at > rememberedMs) others.delete(id)
  })
  const say = () => bus.publish('runner', { runnerId, notices, agents: agents(), jobs: [...running] })
  const beat = setInterval(say, beatMs)
  say()

  /** Whether what was said by anybody in the last so many milliseconds would have been heard. */
  const hasHeardFor = (ms: number): boolean => now() - heardLast <= gapMs && now() - heardSince >= ms

  return {
    running,
    statusOf(id, withinMs) {
      const other = others.get(id)
      if (other && now() - other.at <= withinMs) return 'there'
      return hasHeardFor(withinMs) ? 'gone' : 'unknown'
    },
    whereabouts(jobId) {
      if (running.has(jobId)) return 'running'
      if (isAlone) return 'nowhere'
      const at = now()
      for (const { jobs, at: heard } of others.values())
        if (at - heard <= silentMs && jobs.has(jobId)) return 'running'
      return hasHeardFor(silentMs) ? 'nowhere' : 'unknown'
    },
    stop() {
      clearInterval(beat)
      unsubscribe()
    },
  }
}
