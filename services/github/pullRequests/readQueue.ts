/**
 * A bounded queue of pull requests to read: each once, however often it is asked for, and the repositories of one access take turns. Pure except
 * for the map that it keeps.
 */
import type { PullRequestKey } from '#platform/ports/codeHost.ts'
import type { ReadAccess } from '../access/access.ts'

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
  /** Who has something to read. */
  holders(): ReadonlySet<string>
  /**
   * Takes the next of a holder, at most `most`, that one token may read: what an installation reads by name must be of one repository. They count
   * as being read until `done`.
   */
  take(holder: string, most: number): readonly Wanted[]
  /** Those that were taken are read. */
  done(taken: readonly Wanted[]): void
  /** Neither waiting nor being read. */
  isEmpty(): boolean
}

interface State {
  readonly most: number
  /** By task, in the order of arrival. */
  readonly waiting: Map<string, Wanted>
  /** Being read; `again` when it was asked for meanwhile. */
  readonly reading: Map<string, { again: Wanted | null }>
}

/** A queue of at most `most`. */
export function readQueue(most: number): ReadQueue {
  const state: State = { most, waiting: new Map(), reading: new Map() }
  return {
    add: (wanted) => add(state, wanted),
    holders: () => new Set([...state.waiting.values()].map(({ access }) => access.holder)),
    take: (holder, count) => take(state, holder, count),
    done: (taken) => done(state, taken),
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
  if (!state.waiting.has(taskId) && state.waiting.size >= state.most) return false
  state.waiting.set(taskId, wanted)
  return true
}

function take(state: State, holder: string, count: number): readonly Wanted[] {
  const byRepository = new Map<string, Wanted[]>()
  for (const wanted of state.waiting.values()) {
    if (wanted.access.holder !== holder) continue
    const others = byRepository.get(wanted.repository)
    if (others) others.push(wanted)
    else byRepository.set(wanted.repository, [wanted])
  }
  const lines = [...byRepository.values()]
  const longest = Math.max(0, ...lines.map(({ length }) => length))
  const inTurn = Array.from({ length: longest }, (_, place) =>
    lines.flatMap((line) => line.slice(place, place + 1)),
  ).flat()
  const [first] = inTurn
  const taken = inTurn.filter((one) => first && nameOf(one) === nameOf(first)).slice(0, count)
  for (const { taskId } of taken) {
    state.waiting.delete(taskId)
    state.reading.set(taskId, { again: null })
  }
  return taken
}

/** The repository, where an installation is to read it by its name. */
const nameOf = ({ access, key, repository }: Wanted): string | null =>
  access.kind === 'own' || 'nodeId' in key ? null : repository

function done(state: State, taken: readonly Wanted[]): void {
  for (const { taskId } of taken) {
    const again = state.reading.get(taskId)?.again
    state.reading.delete(taskId)
    if (again) add(state, again)
  }
}
