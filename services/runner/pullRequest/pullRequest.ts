/** Runs the job of a pull request and records its outcome. */
import { randomUUID } from 'node:crypto'
import { Fault, faults } from '#domain/kernel/errors.ts'
import { taskStream, userStream } from '#domain/kernel/streams.ts'
import type { PullRequestOutcome } from '#domain/task/commands.ts'
import { doneFeedback } from '#domain/task/codeHost/feedbackState.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { usersView } from '#domain/views/users.ts'
import { faultOfHost } from '#platform/http/faultResponses.ts'
import type { Logger } from '#platform/log.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { RecordingDeps, WorkspaceDeps } from '../deps.ts'
import type { Stopping } from '../execution/control.ts'
import { Evicted } from '../execution/failure.ts'
import type { PublishingDeps, RequestedPullRequest } from './publication.ts'
import { publishPullRequest } from './publishPullRequest.ts'

const actor = { kind: 'system', service: 'runner' } as const

/**
 * Makes a requested pull request and records its outcome. Throws `Evicted` if it failed after this runner lost the job or began to stop, and
 * `EngineUnavailable`: the next delivery makes the pull request, and finds what this one has pushed or opened.
 */
export async function makePullRequest(
  deps: PublishingDeps,
  { taskId, requestId }: { readonly taskId: string; readonly requestId: string },
  { signal, pushSignal, reason }: Pick<Stopping, 'signal' | 'pushSignal' | 'reason'>,
): Promise<void> {
  const stream = taskStream(taskId)
  const { state, head } = await deps.commands.load(decider, stream)
  if (state.kind !== 'task' || state.pullRequestRequest !== requestId) return
  const ownerStream = userStream(state.ownerId)
  const [task, user, requested] = await Promise.all([
    deps.documents.asOf(tasksView, stream, taskId, head),
    deps.documents.asOf(usersView, ownerStream, state.ownerId, await deps.log.headOf(ownerStream)),
    requestedOf(deps, taskId, requestId),
  ])
  if (!task || !user || !requested) return
  const published = await whileTaskIsIdle(deps, { taskId, signal }, async (current) => ({
    outcome: await publishPullRequest(deps, {
      state: current,
      task,
      user,
      requested,
      signal,
      pushSignal,
    }).catch((fault: unknown) => outcomeOfFault(deps.logger, fault)),
    covers: doneFeedback(current),
  })).catch((fault: unknown) => ({ outcome: outcomeOfFault(deps.logger, fault), covers: [] }))
  const { outcome, covers } = published ?? { outcome: isRunning, covers: [] }
  if (published?.outcome.kind === 'failed' && (reason() === 'evicted' || reason() === 'stopping'))
    throw new Evicted('The pull request is left to the next delivery of its job.')
  const isShownInChat = requested.automatic || isForPerson(outcome)
  const command = {
    type: 'SettlePullRequest',
    requestId,
    outcome: isShownInChat ? toldInChat(withWorkKept(outcome, deps.codeHost)) : outcome,
    covers,
    nextRequestId: randomUUID(),
  } as const
  await deps.commands
    .execute(decider, stream, command, { actor, commandId: randomUUID() })
    .catch((fault: unknown) => {
      if (!(fault instanceof Fault)) throw fault
    })
}

/** Faults that only a person can fix, at the code host or in the settings. They are shown permanently, whoever requested the publication. */
const forPerson: ReadonlySet<string> = new Set([
  'github_not_connected',
  'app_key_refused',
  'no_repository_access',
  'no_push_access',
  'workflows_not_granted',
])
const isForPerson = (outcome: PullRequestOutcome): boolean =>
  outcome.kind === 'failed' && forPerson.has(outcome.code)

const workKept = 'The work is kept.'
const notConnected = ({ ownToken }: Pick<CodeHost, 'ownToken'>): string =>
  ownToken === undefined
    ? `Flightdeck can no longer act for you on GitHub. ${workKept} Connect GitHub again in Settings, then try again.`
    : `GitHub is not connected, or no longer accepts the token in GITHUB_TOKEN. ${workKept} Start the server with a good one, connect GitHub again in Settings, then try again.`

/** If publishing failed because access was lost, adds to the reason that the work is kept. */
function withWorkKept(outcome: PullRequestOutcome, codeHost: Pick<CodeHost, 'ownToken'>): PullRequestOutcome {
  if (outcome.kind !== 'failed') return outcome
  if (outcome.code === 'github_not_connected') return { ...outcome, reason: notConnected(codeHost) }
  if (outcome.code === 'no_repository_access' && !outcome.reason.includes(workKept))
    return { ...outcome, reason: `${outcome.reason} ${workKept}` }
  return outcome
}

/** Adds a chat message to a failure. A request that is postponed, because the task is running, is reported when it is done. */
function toldInChat(outcome: PullRequestOutcome): PullRequestOutcome {
  return outcome.kind === 'failed' && outcome.code !== 'task_running'
    ? { ...outcome, messageId: randomUUID() }
    : outcome
}

const isRunning: PullRequestOutcome = {
  kind: 'failed',
  code: 'task_running',
  reason: faults.task_running.sentence,
}

/** How often the log is checked for a turn that began, in case a bus message was lost. */
const pollIntervalMs = 1_000

/**
 * Publishes while nobody else uses the workspace. A turn that is requested in the meantime begins afterwards. If a turn has already begun, nothing is
 * published and the result is `undefined`: nobody has seen yet what the turn will change.
 */
async function whileTaskIsIdle<T>(
  deps: Pick<RecordingDeps, 'commands' | 'bus'> & Pick<WorkspaceDeps, 'locks'>,
  { taskId, signal }: { readonly taskId: string; readonly signal: AbortSignal },
  publish: (state: LiveTask) => Promise<T>,
): Promise<T | undefined> {
  const stream = taskStream(taskId)
  /** The state of the task; `undefined` while a turn runs. */
  const idleState = async (): Promise<LiveTask | undefined> => {
    const { state } = await deps.commands.load(decider, stream)
    if (state.kind !== 'task') throw new Fault('not_found', 'There is no such task.')
    return state.phase.status === 'running' ? undefined : state
  }
  const begun = new AbortController()
  const abortWhenBegun = async () => {
    if (!(await idleState())) begun.abort()
  }
  const checkAgain = () => void abortWhenBegun().catch(() => undefined)
  const unsubscribe = deps.bus.subscribe('appended', (event) => {
    if (event.stream === stream && event.type === 'ExecutionStarted') checkAgain()
  })
  const timer = setInterval(checkAgain, pollIntervalMs)
  const stopWatching = () => {
    unsubscribe()
    clearInterval(timer)
  }
  const publishIfIdle = async () => {
    stopWatching()
    const state = await idleState()
    return state && publish(state)
  }
  try {
    await abortWhenBegun()
    return await deps.locks.hold(taskId, publishIfIdle, AbortSignal.any([signal, begun.signal]))
  } catch (fault) {
    if (fault === begun.signal.reason) return undefined
    throw fault
  } finally {
    stopWatching()
  }
}

/** The request for a pull request as the log has it, with title and body; `undefined` when the log has no such request. */
async function requestedOf(
  { log }: Pick<RecordingDeps, 'log'>,
  taskId: string,
  requestId: string,
): Promise<RequestedPullRequest | undefined> {
  // The request is among the latest events, so the search begins at the end.
  for (let from: number | 'end' = 'end'; ;) {
    const events = await log.readBackwards(taskStream(taskId), from, 200)
    for (const event of events) {
      if (event.type !== 'PullRequestRequested' || event.data.requestId !== requestId) continue
      const { title = '', body = '', tree = null } = event.content ?? {}
      return { ...event.data, title, body, tree }
    }
    const last = events.at(-1)
    if (!last || last.revision === 0) return undefined
    from = last.revision - 1
  }
}

/** The outcome of a job that threw. Throws `EngineUnavailable` again, because it says nothing about the pull request. */
function outcomeOfFault(logger: Logger, fault: unknown): PullRequestOutcome {
  if (fault instanceof EngineUnavailable) throw fault
  if (fault instanceof Fault) return { kind: 'failed', code: fault.code, reason: fault.message }
  if (fault instanceof CodeHostFault) {
    return { kind: 'failed', code: faultOfHost(fault).code, reason: fault.message }
  }
  logger.error({ err: fault }, 'pull request failed')
  return { kind: 'failed', code: 'internal', reason: 'Something went wrong while creating the pull request.' }
}
