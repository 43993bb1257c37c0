/**
 * A bounded queue of pull requests to read: each occurs once, however often it is requested, and the repositories of one access take turns. Pure
 * except for the map that it keeps.
 */
import type { PullRequestKey } from '#platform/ports/codeHost.ts'
import type { ReadAccess } from '../access.ts'

/** A pull request to read. */
export interface ReadRequest {
  readonly taskId: string
  readonly number: number
  readonly key: PullRequestKey
  /** The access: reads with one access share its limits, and go into one request. */
  readonly access: ReadAccess
  /** The repository; repositories take turns. */
  readonly repository: string
}

export interface ReadQueue {
  /** Queues a request, or keeps its place. A pull request that is being read is read once more afterwards. `false` when the queue is full. */
  add(request: ReadRequest): boolean
  /** The holders of an access with something to read. */
  holders(): ReadonlySet<string>
  /**
   * Takes the next requests of a holder, at most `max`, that one token may read: those that an installation reads by name must be of one repository.
   * They count as being read until `done`.
   */
  take(holder: string, max: number): readonly ReadRequest[]
  /** Reports that these requests were read. */
  done(taken: readonly ReadRequest[]): void
  /** Whether no request waits or is being read. */
  isEmpty(): boolean
}

interface State {
  readonly max: number
  /** Waiting requests by task, in the order of arrival. */
  readonly waiting: Map<string, ReadRequest>
  /** Requests being read; `again` is set when the pull request was requested meanwhile. */
  readonly reading: Map<string, { again: ReadRequest | null }>
}

/** A queue of at most `max`. */
export function readQueue(max: number): ReadQueue {
  const state: State = { max, waiting: new Map(), reading: new Map() }
  return {
    add: (request) => add(state, request),
    holders: () => new Set([...state.waiting.values()].map(({ access }) => access.holder)),
    take: (holder, count) => take(state, holder, count),
    done: (taken) => done(state, taken),
    isEmpty: () => state.waiting.size === 0 && state.reading.size === 0,
  }
}

function add(state: State, request: ReadRequest): boolean {
  const { taskId } = request
  const reading = state.reading.get(taskId)
  if (reading) {
    reading.again = request
    return true
  }
  if (!state.waiting.has(taskId) && state.waiting.size >= state.max) return false
  state.waiting.set(taskId, request)
  return true
}

function take(state: State, holder: string, count: number): readonly ReadRequest[] {
  const byRepository = new Map<string, ReadRequest[]>()
  for (const request of state.waiting.values()) {
    if (request.access.holder !== holder) continue
    const others = byRepository.get(request.repository)
    if (others) others.push(request)
    else byRepository.set(request.repository, [request])
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

/** The name of the repository, if an installation is to read it by name. */
const nameOf = ({ access, key, repository }: ReadRequest): string | null =>
  access.kind === 'own' || 'nodeId' in key ? null : repository

function done(state: State, taken: readonly ReadRequest[]): void {
  for (const { taskId } of taken) {
    const again = state.reading.get(taskId)?.again
    state.reading.delete(taskId)
    if (again) add(state, again)
  }
}
