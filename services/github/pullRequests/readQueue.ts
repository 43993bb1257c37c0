/**
 * A bounded queue of pull requests to read. Each pull request is in the queue once, however often it is added, and the repositories of one access
 * take turns.
 */
import type { PullRequestKey } from '#platform/ports/codeHost.ts'
import type { ReadAccess } from '../access.ts'

/** A task's pull request to read, and how to read it. */
export interface ReadRequest {
  readonly taskId: string
  readonly number: number
  readonly key: PullRequestKey
  /** The access with which the pull request is read. Pull requests with the same access share its rate limit, and can be read in one request. */
  readonly access: ReadAccess
  /** The key by which repositories take turns. */
  readonly repository: string
}

export interface ReadQueue {
  /**
   * Adds a pull request. If it is in the queue already, it keeps its place; if it is being read, it is read once more afterwards. Returns `false`
   * when the queue is full.
   */
  add(request: ReadRequest): boolean
  /** The holders whose access the waiting pull requests need. */
  holders(): ReadonlySet<string>
  /**
   * Takes at most `max` pull requests that one token of the holder can read. Pull requests that an installation reads by name must all be from one
   * repository. All of them count as being read until `done` is called.
   */
  take(holder: string, max: number): readonly ReadRequest[]
  /** Marks these pull requests as read. Those that were added meanwhile wait again, if there is room. */
  done(taken: readonly ReadRequest[]): void
  /** Whether nothing waits and nothing is being read. */
  isEmpty(): boolean
}

interface State {
  readonly max: number
  /** Waiting requests by task, in the order of arrival. */
  readonly waiting: Map<string, ReadRequest>
  /** Tasks being read; `again` is the request that was added in the meantime. */
  readonly reading: Map<string, { again: ReadRequest | null }>
}

/** Makes a queue in which at most `max` pull requests wait. */
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

/** The repository, if an installation has to read the pull request by the repository's name; `null` otherwise. */
const nameOf = ({ access, key, repository }: ReadRequest): string | null =>
  access.kind === 'own' || 'nodeId' in key ? null : repository

function done(state: State, taken: readonly ReadRequest[]): void {
  for (const { taskId } of taken) {
    const again = state.reading.get(taskId)?.again
    state.reading.delete(taskId)
    if (again) add(state, again)
  }
}
