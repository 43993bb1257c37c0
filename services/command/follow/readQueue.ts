/**
 * Pull requests that wait to be read: each once, however often it is asked for, bounded, and in turn for the repositories of one access. Pure
 * but for the map that it keeps.
 */
import type { PullRequestKey } from '#platform/ports/codeHost.ts'
import type { ReadAccess } from './access.ts'

/** A pull request to read. */
export interface Wanted {
  readonly taskId: string
  readonly number: number
  readonly key: PullRequestKey
  /** What is read by one access shares its limits, and goes into one request. */
  readonly access: ReadAccess
  /** Repositories take turns. */
  readonly repository: string
}

export interface ReadQueue {
  /** Queues it, or keeps its place. One that is being read is read once more afterwards. `false` when the queue is full. */
  add(wanted: Wanted): boolean
  /** By holder, when the first of what waits may be read. */
  due(): ReadonlyMap<string, number>
  /** Takes the next of a holder, at most `most`; they count as being read until `done`. */
  take(holder: string, now: number, most: number): readonly Wanted[]
  /** Those that were taken are read; the next reading of each comes after `restMs`. */
  done(taken: readonly Wanted[], now: number): void
  /** Neither waiting nor being read. */
  isEmpty(): boolean
}

export interface QueueLimits {
  readonly most: number
  /** Between two readings of one pull request. */
  readonly restMs: number
}

interface Entry {
  readonly wanted: Wanted
  /** Not before. */
  readonly at: number
}

interface State {
  readonly limits: QueueLimits
  /** By task, in the order of arrival. */
  readonly waiting: Map<string, Entry>
  /** Being read; `again` when it was asked for meanwhile. */
  readonly reading: Map<string, { again: Wanted | null }>
  /** When each was read last, as long as that matters. */
  readonly readAt: Map<string, number>
}

export function readQueue(limits: QueueLimits): ReadQueue {
  const state: State = { limits, waiting: new Map(), reading: new Map(), readAt: new Map() }
  return {
    add: (wanted) => add(state, wanted),
    due: () => due(state),
    take: (holder, now, most) => take(state, holder, now, most),
    done: (taken, now) => done(state, taken, now),
    isEmpty: () => state.waiting.size === 0 && state.reading.size === 0,
  }
}

function add(state: State, wanted: Wanted): boolean {
  const { taskId } = wanted
  const reading = state.reading.get(taskId)
  if (reading) {
    reading.again = wanted
    return true
  }
  const known = state.waiting.get(taskId)
  if (!known && state.waiting.size >= state.limits.most) return false
  const at = known?.at ?? (state.readAt.get(taskId) ?? Number.NEGATIVE_INFINITY) + state.limits.restMs
  state.waiting.set(taskId, { wanted, at })
  return true
}

function due({ waiting }: State): ReadonlyMap<string, number> {
  const first = new Map<string, number>()
  for (const { wanted, at } of waiting.values()) {
    const { holder } = wanted.access
    first.set(holder, Math.min(first.get(holder) ?? Number.POSITIVE_INFINITY, at))
  }
  return first
}

function take(state: State, holder: string, now: number, most: number): readonly Wanted[] {
  const byRepository = new Map<string, Wanted[]>()
  for (const { wanted, at } of state.waiting.values()) {
    if (wanted.access.holder !== holder || at > now) continue
    const others = byRepository.get(wanted.repository)
    if (others) others.push(wanted)
    else byRepository.set(wanted.repository, [wanted])
  }
  const lines = [...byRepository.values()]
  const longest = Math.max(0, ...lines.map(({ length }) => length))
  const inTurn = Array.from({ length: longest }, (_, place) =>
    lines.flatMap((line) => line.slice(place, place + 1)),
  ).flat()
  const taken = inTurn.slice(0, most)
  for (const { taskId } of taken) {
    state.waiting.delete(taskId)
    state.reading.set(taskId, { again: null })
  }
  return taken
}

function done(state: State, taken: readonly Wanted[], now: number): void {
  for (const [taskId, at] of state.readAt) if (at + state.limits.restMs <= now) state.readAt.delete(taskId)
  for (const { taskId } of taken) {
    const again = state.reading.get(taskId)?.again
    state.reading.delete(taskId)
    state.readAt.set(taskId, now)
    if (again) add(state, again)
  }
}
