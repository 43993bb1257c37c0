/**
 * Follows pull requests at the code host. Webhooks, publications by tasks, open clients and elapsed time only hint at pull requests that may have
 * changed; facts come only from reading the pull requests. So the order of hints does not matter, and many hints cause few readings.
 */
import { Fault } from '#domain/kernel/errors.ts'
import { parseStream } from '#domain/kernel/streams.ts'
import type { Position } from '#domain/kernel/event.ts'
import { rounds, type Rounds } from '#platform/async/rounds.ts'
import type { Engines } from '#platform/compose.ts'
import { startReactor, type ReactorEngines } from '#platform/eventlog/reactor.ts'
import { CodeHostFault, pullRequestsAtOnce } from '#platform/ports/codeHost.ts'
import type { LogRecord } from '#platform/ports/eventStore.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Find } from '#platform/ports/readStore.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import type { Projected } from '#platform/reads/projectionWait.ts'
import { isFault, isHostUnavailable, isRefusal } from '../faults.ts'
import type { FeedbackReader } from '../feedback/feedback.ts'
import { openDelivery } from '../refresh/deliveries.ts'
import { readAll, type Found, type ReaderDeps, type ReadOutcome } from './reader.ts'
import { readQueue, type ReadQueue, type ReadRequest } from './readQueue.ts'
import { hinted, lookedAt, ofCommit, ofTask, queueFollowed, type RequestDeps } from './readRequests.ts'

export type FollowerEngines = ReactorEngines &
  RequestDeps &
  ReaderDeps &
  Pick<Engines, 'log' | 'bus'> & {
    readonly projected: Pick<Projected, 'waitFor'>
    readonly feedback: FeedbackReader
  }

/** The waits before pull requests are read, in milliseconds. */
export interface FollowerTimes {
  /** The time from the start to the first reading of all pull requests. */
  readonly firstMs: number
  /** The least time between two readings of a pull request because its task is open in a client, or because its owner has a client open. */
  readonly lookedAtMs: number
  /** The time after which all followed pull requests are read again. */
  readonly pollIntervalMs: number
  /** How long an access rests after pull requests were read with it. Hints that arrive meanwhile share the next reading. */
  readonly restMs: number
}

/** The times that follow from the operator's poll interval `everyMs`. */
export const timesFor = (everyMs: number): FollowerTimes => ({
  firstMs: everyMs,
  lookedAtMs: everyMs,
  pollIntervalMs: everyMs * 10,
  restMs: 1_000,
})

const maxWaiting = 5_000
/** The most requests at once, each with a different access. */
const requestsAtOnce = 4
const foldTimeoutMs = 2_000
/** How long an access rests after a fault. Doubles for faults that may pass, unless the code host says how long to wait. */
const rests = { limitedMs: 60_000, unavailableMs: 5_000, refusedMs: 240_000, longestMs: 900_000 }

interface Rest {
  readonly until: number
  /** The number of failures in a row. */
  readonly failures: number
  /** Whether the access itself was refused. Hints queue no request with it before `until`. */
  readonly isRefused: boolean
}

interface Follower {
  readonly engines: FollowerEngines
  readonly times: FollowerTimes
  readonly queue: ReadQueue
  /** By holder of an access: until when nothing is read with it. The time may be over. */
  readonly resting: Map<string, Rest>
  readonly busy: Set<string>
  readonly underWay: Set<Promise<void>>
  /** Calls `pump` as soon as an access may be used again. */
  readonly waking: Rounds
  /** By id of a person with an open client, or of an open task: when their pull requests were last queued. */
  readonly lookedAt: Map<string, number>
  /** By task, the pull requests that are to be read again a little later. */
  readonly later: Map<string, { readonly timer: NodeJS.Timeout; readonly at: number }>
  /** Where the last poll of all pull requests stopped because the queue was full. */
  stoppedAt: Find['after']
  isStopped: boolean
}

/** Follows pull requests until it is stopped. */
export async function startFollower(engines: FollowerEngines, times: FollowerTimes): Promise<RunningWork> {
  const follower: Follower = {
    engines,
    times,
    queue: readQueue(maxWaiting),
    resting: new Map(),
    busy: new Set(),
    underWay: new Set(),
    waking: rounds(async () => pump(follower)),
    lookedAt: new Map(),
    later: new Map(),
    stoppedAt: undefined,
    isStopped: false,
  }
  const reactor = await startReactor(engines, {
    marks: ['followed'],
    // Without an earlier mark, the reactor starts at the end of the log: the first reading of all pull requests covers every earlier hint.
    from: 'head',
    filter: {
      streams: ['task-', 'delivery-'],
      types: ['PullRequestOpened', 'PullRequestUpdated', 'DeliveryReceived'],
    },
    handle: (events, upTo) => hear(follower, events, upTo),
    // The mark is set only when nothing waits, so that after a crash the hints are handled again.
    isDone: follower.queue.isEmpty,
  })
  const stopListening = engines.bus.subscribe('presence', (presence) => {
    void readLookedAt(follower, presence).catch((fault: unknown) => logFault(follower, fault))
  })
  const polling = rounds(async () => {
    await readEverything(follower).catch((fault: unknown) => logFault(follower, fault))
    polling.within(times.pollIntervalMs)
  })
  polling.within(times.firstMs)
  engines.logger.debug('following pull requests')
  return {
    async stop() {
      follower.isStopped = true
      for (const { timer } of follower.later.values()) clearTimeout(timer)
      stopListening()
      await Promise.all([polling.stop(), follower.waking.stop(), reactor.stop()])
      while (follower.underWay.size > 0) await Promise.all(follower.underWay)
    },
  }
}

function logFault({ engines: { logger }, isStopped }: Follower, fault: unknown): void {
  // An engine that is unavailable, or a read model that is still being built, is not logged: the next poll tries again.
  if (isStopped || fault instanceof EngineUnavailable) return
  if (fault instanceof CodeHostFault || (fault instanceof Fault && fault.code === 'github_not_connected')) {
    logger.debug({ err: fault }, 'failed to read what came back on pull requests')
    return
  }
  logger.error({ err: fault }, 'failed to look for pull requests to read')
}

/** Queues the pull requests that a batch of events hints at, each once. */
async function hear(follower: Follower, events: readonly LogRecord[], upTo: Position): Promise<void> {
  const { engines } = follower
  const tasks = new Set<string>()
  const named = new Map<string, Hint>()
  for (const stored of events) {
    const stream = parseStream(stored.stream)
    if (stream.kind === 'task') tasks.add(stream.id)
    else if (stream.kind === 'delivery') {
      const about = await hintOf(follower, stored)
      if (about) named.set(JSON.stringify(about), about)
    }
  }
  for (const taskId of tasks) queue(follower, await ofTask(engines, taskId))
  if (named.size > 0) {
    // The read models may lack observations that were recorded just before the hint.
    await engines.projected.waitFor(upTo, foldTimeoutMs)
    for (const about of named.values()) {
      const { repositoryId } = about
      const found =
        'number' in about
          ? await hinted(engines, repositoryId, about.number)
          : await ofCommit(engines, repositoryId, about.commit)
      for (const { taskId } of found) engines.feedback.forget(taskId)
      queue(follower, found)
    }
  }
}

type Hint = { readonly repositoryId: string } & ({ readonly number: number } | { readonly commit: string })
/** These events name a commit. GitHub names pull requests only in some of these events, and never pull requests of forks. */
const ofChecks: ReadonlySet<string> = new Set(['check_run', 'check_suite', 'status'])

async function hintOf({ engines }: Follower, stored: LogRecord): Promise<Hint | undefined> {
  const delivery = await openDelivery(engines, stored)
  const {
    repositoryId = null,
    pullRequest: number = null,
    headCommit: commit = null,
  } = delivery?.content ?? {}
  if (delivery === undefined || repositoryId === null) return undefined
  if (number !== null) return { repositoryId, number }
  return ofChecks.has(delivery.data.event) && commit !== null ? { repositoryId, commit } : undefined
}

/** Queues the pull requests of people who have a client open, and of tasks that are open in a client, unless they were queued a moment ago. */
async function readLookedAt(
  follower: Follower,
  { userIds, taskIds }: { readonly userIds: readonly string[]; readonly taskIds: readonly string[] },
): Promise<void> {
  const { lookedAt: last, times } = follower
  const now = performance.now()
  for (const [id, at] of last) if (at + times.lookedAtMs <= now) last.delete(id)
  const isDue = (id: string) => {
    if (last.has(id)) return false
    last.set(id, now)
    return true
  }
  const due = taskIds.filter(isDue)
  if (due.length > 0) queue(follower, await lookedAt(follower.engines, { owner: null, taskIds: due }))
  for (const owner of userIds.filter(isDue)) {
    if (follower.isStopped) return
    queue(follower, await lookedAt(follower.engines, { owner, taskIds: [] }))
  }
}

async function readEverything(follower: Follower): Promise<void> {
  // If the queue is full, the next poll queues the rest.
  follower.stoppedAt = await queueFollowed(
    follower.engines,
    follower.stoppedAt,
    (found) => !follower.isStopped && queue(follower, found),
  )
}

/** Queues requests. Returns `false` when the queue is full. */
function queue(follower: Follower, found: readonly ReadRequest[]): boolean {
  const now = performance.now()
  // A request whose access was just refused is not queued: only a later reading tries this access again.
  const isWelcome = ({ access: { holder } }: ReadRequest) => {
    const rest = follower.resting.get(holder)
    return rest === undefined || !rest.isRefused || rest.until <= now
  }
  const isTaken = found.filter(isWelcome).map((request) => follower.queue.add(request))
  pump(follower)
  if (isTaken.every(Boolean)) return true
  follower.engines.logger.warn('too many pull requests wait to be read')
  return false
}

/** Starts a request for each access that may be used now, up to `requestsAtOnce`, and wakes when the next access may be used again. */
function pump(follower: Follower): void {
  const { busy, resting } = follower
  if (follower.isStopped) return
  const now = performance.now()
  let wakeAt = Number.POSITIVE_INFINITY
  for (const holder of follower.queue.holders()) {
    if (busy.has(holder)) continue
    const from = resting.get(holder)?.until ?? 0
    if (from > now) wakeAt = Math.min(wakeAt, from)
    else if (busy.size < requestsAtOnce) start(follower, holder)
  }
  if (wakeAt < Number.POSITIVE_INFINITY) follower.waking.within(wakeAt - now)
}

function start(follower: Follower, holder: string): void {
  const { busy, underWay } = follower
  busy.add(holder)
  const work = read(follower, holder).finally(() => {
    busy.delete(holder)
    underWay.delete(work)
    pump(follower)
  })
  underWay.add(work)
}

async function read(follower: Follower, holder: string): Promise<void> {
  const { engines, queue, resting } = follower
  const taken = queue.take(holder, pullRequestsAtOnce)
  let mine = taken
  try {
    mine = await stillOf(follower, holder, taken)
    const outcome = await readAll(engines, mine)
    if (outcome.kind === 'read') {
      for (const request of outcome.unseen) queue.add(request)
      await readFeedback(follower, outcome.found)
      resting.set(holder, { until: performance.now() + follower.times.restMs, failures: 0, isRefused: false })
    } else {
      resting.set(holder, restAfter(outcome, resting.get(holder)))
      if (outcome.kind === 'wait') for (const request of mine) queue.add(request)
    }
  } catch (fault) {
    // Pull requests that could not be recorded, for example because the log is unavailable, are read again in the next poll.
    const isLimit = fault instanceof CodeHostFault && fault.kind === 'rate_limited'
    const ms = fault instanceof CodeHostFault ? fault.retryAfterMs : undefined
    const outcome: ReadOutcome = isRefusal(fault) ? { kind: 'refused' } : { kind: 'wait', ms, isLimit }
    resting.set(holder, restAfter(outcome, resting.get(holder)))
    if (isLimit) for (const request of mine) queue.add(request)
    logFault(follower, fault)
  }
  queue.done(taken)
}

/** Returns the requests in `taken` that `holder` may still read. Queues the others again with their new access. */
async function stillOf(
  { queue }: Follower,
  holder: string,
  taken: readonly ReadRequest[],
): Promise<readonly ReadRequest[]> {
  const now = await Promise.all(
    taken.map(async (request): Promise<ReadRequest> => {
      const { access } = request
      return access.kind === 'own' ? request : { ...request, access: await access.again() }
    }),
  )
  const isMine = ({ access }: ReadRequest) => access.holder === holder
  for (const other of now) if (!isMine(other)) queue.add(other)
  return now.filter(isMine)
}

/** Whether a fault concerns every pull request that is read with this access, because it comes from the access or from one of our engines. */
const concernsAll = (fault: unknown): boolean =>
  isRefusal(fault) || fault instanceof EngineUnavailable || isFault(fault, ['rate_limited'])

/**
 * Reads the feedback on the pull requests in `found`, and queues a pull request again if more feedback is expected or could not be read for now. A
 * pull request whose feedback cannot be read does not stop the others. Throws faults that concern all pull requests.
 */
async function readFeedback(follower: Follower, found: readonly Found[]): Promise<void> {
  for (const { request, reading } of found) {
    if (follower.isStopped) return
    const again = await follower.engines.feedback.read(request, reading).catch((fault: unknown) => {
      const { access } = request
      if (access.kind === 'installation' && isRefusal(fault)) {
        access.refused()
        return rests.limitedMs
      }
      if (concernsAll(fault)) throw fault
      const { taskId } = request
      follower.engines.logger.warn({ err: fault, taskId }, 'failed to read the feedback on a pull request')
      return isHostUnavailable(fault) ? rests.limitedMs : null
    })
    if (again !== null) later(follower, request, again)
  }
}

/** Queues the pull request again after `ms`, unless this is already planned for an earlier time. */
function later(follower: Follower, request: ReadRequest, ms: number): void {
  const at = performance.now() + ms
  const before = follower.later.get(request.taskId)
  if (before !== undefined && before.at <= at) return
  clearTimeout(before?.timer)
  const timer = setTimeout(() => {
    follower.later.delete(request.taskId)
    queue(follower, [request])
  }, ms)
  follower.later.set(request.taskId, { timer, at })
}

function restAfter(outcome: Exclude<ReadOutcome, { kind: 'read' }>, before: Rest | undefined): Rest {
  const failures = (before?.failures ?? 0) + 1
  const until = (ms: number) => performance.now() + ms
  if (outcome.kind === 'refused') return { until: until(rests.refusedMs), failures, isRefused: true }
  const firstMs = outcome.isLimit ? rests.limitedMs : rests.unavailableMs
  const ms = outcome.ms ?? Math.min(firstMs * 2 ** (failures - 1), rests.longestMs)
  return { until: until(ms), failures, isRefused: false }
}
