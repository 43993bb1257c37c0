/**
 * Writes replies to feedback on a pull request, in the name of the task's owner, after the agent has worked on the feedback. The log records which
 * replies are due. Each reply contains a hidden marker. Before a reply is written, the code host is searched for that marker, so that a crash in
 * between does not lead to a second reply.
 */
import { LRUCache } from 'lru-cache'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { CommandOf } from '#domain/task/commands.ts'
import { task } from '#domain/task/task.ts'
import { feedbackView, type FeedbackDocument } from '#domain/views/feedback.ts'
import { projectsView } from '#domain/views/projects.ts'
import { pullRequestsView } from '#domain/views/pullRequests.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Engines } from '#platform/compose.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import { CodeHostFault, type CodeHost, type PullRequestKey } from '#platform/ports/codeHost.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { newest, pagesOf } from '#platform/reads/documentPages.ts'
import { restingOwners, startWriting, type RestingOwners, type WritingEngines } from '../refresh/dueWrites.ts'
import { replyText, threadsOf, writeReplies } from './replies.ts'

export type ReplyEngines = WritingEngines &
  Pick<Engines, 'documents' | 'clock' | 'logger'> & {
    readonly commands: Pick<Engines['commands'], 'execute' | 'load'>
    readonly access: Pick<HostAccess, 'tokenOf'>
    readonly codeHost: Pick<
      CodeHost,
      'pullRequestStates' | 'pullRequestFeedback' | 'writeComment' | 'resolveThreads'
    >
  }

type Answering = ReplyEngines & {
  readonly resting: RestingOwners
  /** For each piece of feedback, the number of unexpected failures in a row, and until when the feedback is skipped. */
  readonly failing: LRUCache<string, { readonly times: number; readonly until: number }>
}

const batch = 100
const maxFailing = 2_000
/** How long a piece of feedback is skipped after an unexpected failure. The time doubles with each failure, up to an hour. */
const failingMs = { first: 60_000, longest: 3_600_000 }
/** After a start, threads that an earlier process left open are resolved, but only those of the newest `max` answers of the last `withinMs`. */
const leftBehind = { withinMs: 24 * 3_600_000, max: 200 }

/** Writes replies when they are due, and every `intervalMs` those that had to wait, until it is stopped. */
export function startReplyWriter(engines: ReplyEngines, intervalMs: number): Promise<RunningWork> {
  const answering: Answering = {
    ...engines,
    resting: restingOwners(),
    failing: new LRUCache({ max: maxFailing }),
  }
  let leftOpen: LeftOpen | undefined
  return startWriting(engines, {
    filter: { streams: ['task-'], types: ['FeedbackAnswerDue'] },
    intervalMs,
    async round(isStopped) {
      await answerAll(answering, isStopped)
      leftOpen ??= await leftOpenBefore(answering)
      await resolveLeftOpen(answering, leftOpen, isStopped)
    },
    failed: 'failed to answer on pull requests',
  })
}

/** Writes all due replies. Reads every page of them, because replies that have to wait could fill the first page. */
async function answerAll(answering: Answering, isOver: () => boolean): Promise<void> {
  const due = pagesOf(answering.documents, feedbackView, { where: { answer: 'due' }, limit: batch })
  for await (const page of due)
    for (const feedback of page) {
      if (isOver()) return
      await skippingAfterFailure(answering, feedback, () => answerOne(answering, feedback))
    }
}

/**
 * Runs the work on one piece of feedback. An unexpected failure, such as an unreadable history or secret, does not stop the other replies. The first
 * of several failures in a row is logged as a warning, and the work is retried after a while.
 */
async function skippingAfterFailure(
  { failing, logger }: Answering,
  { id, task: taskId }: FeedbackDocument,
  work: () => Promise<void>,
): Promise<void> {
  const before = failing.get(id)
  if (before && before.until > performance.now()) return
  try {
    await work()
    failing.delete(id)
  } catch (fault) {
    if (fault instanceof EngineUnavailable) throw fault
    const times = (before?.times ?? 0) + 1
    const ms = Math.min(failingMs.first * 2 ** (times - 1), failingMs.longest)
    failing.set(id, { times, until: performance.now() + ms })
    logger[times === 1 ? 'warn' : 'debug']({ err: fault, taskId }, 'failed to answer on a pull request')
  }
}

/** Answered feedback whose threads an earlier process did not resolve before it ended. */
interface LeftOpen {
  waiting: readonly FeedbackDocument[]
  /** For how many pieces of feedback resolving failed, and the first fault. */
  failures: number
  fault: unknown
}

async function leftOpenBefore({ documents, clock }: ReplyEngines): Promise<LeftOpen> {
  const answered = await newest(documents, feedbackView, { answer: 'answered' }, leftBehind.max)
  const since = clock.now().getTime() - leftBehind.withinMs
  const waiting = answered.filter(
    ({ isResolved, commit, answeredAt }) =>
      !isResolved && commit !== null && answeredAt !== undefined && Date.parse(answeredAt) >= since,
  )
  return { waiting, failures: 0, fault: undefined }
}

/**
 * Resolves the threads left by an earlier process; resolving twice does no harm. Threads whose owner has to wait are kept for later; failures are
 * logged once, at the end.
 */
async function resolveLeftOpen(answering: Answering, left: LeftOpen, isOver: () => boolean): Promise<void> {
  if (left.waiting.length === 0) return
  const later: FeedbackDocument[] = []
  for (const [index, feedback] of left.waiting.entries()) {
    if (isOver()) return void (left.waiting = [...later, ...left.waiting.slice(index)])
    try {
      if (!(await resolveOneLeft(answering, feedback))) later.push(feedback)
    } catch (fault) {
      if (fault instanceof EngineUnavailable) throw fault
      left.fault ??= fault
      left.failures += 1
    }
  }
  left.waiting = later
  const { failures: count, fault: err } = left
  if (later.length === 0 && count > 0)
    answering.logger.warn({ err, count }, 'left threads open that an earlier process had answered in')
}

/** Resolves the threads of one piece of feedback. Returns `false` when the task's owner has to wait for the code host. */
async function resolveOneLeft(answering: Answering, feedback: FeedbackDocument): Promise<boolean> {
  const { documents, access } = answering
  const of = await documents.get(tasksView, feedback.task)
  const pull = await documents.get(pullRequestsView, feedback.task)
  if (!of || pull?.nodeId == null || pull.number !== feedback.number) return true
  if (answering.resting.has(of.owner)) return false
  try {
    const token = await access.tokenOf(of.owner)
    await resolve(answering, feedback, { token, nodeId: pull.nodeId, projectId: of.projectId })
    return true
  } catch (fault) {
    if (!restsAfter(answering, of.owner, fault)) throw fault
    return false
  }
}

/** If the fault is temporary, pauses the replies of this owner for some time. Returns whether the fault is temporary. */
function restsAfter({ resting }: Answering, owner: string, fault: unknown): boolean {
  if (!(fault instanceof CodeHostFault && fault.isPassing)) return false
  resting.add(owner, fault.retryAfterMs)
  return true
}

async function answerOne(answering: Answering, feedback: FeedbackDocument): Promise<void> {
  const { task: taskId, feedbackId } = feedback
  const of = await answering.documents.get(tasksView, taskId)
  if (of && answering.resting.has(of.owner)) return
  const answer = of ? await answerOf(answering, feedback, of) : gone
  if (answer === null) return
  await settle(answering, taskId, { type: 'SettleFeedback', feedbackId, outcome: answer.outcome })
  if (answer.on !== undefined) await resolveWhereWanted(answering, feedback, answer.on)
}

/** The pull request on which replies are written. */
interface AnsweredOn {
  readonly token: string
  readonly nodeId: string
  readonly projectId: string
}
type Outcome = CommandOf<'SettleFeedback'>['outcome']
interface Answer {
  readonly outcome: Outcome
  readonly on?: AnsweredOn
}

const failed = (code: string, reason: string): Answer => ({ outcome: { kind: 'failed', code, reason } })
const gone = failed('not_found', 'The project of this task is gone.')

async function settle(
  { commands, logger }: ReplyEngines,
  taskId: string,
  command: CommandOf<'SettleFeedback'>,
): Promise<void> {
  try {
    await commands.execute(task, taskStream(taskId), command, bySystem('answering'))
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    logger.debug({ err: fault, taskId }, 'an answer was written for a task that is gone')
  }
}

/** The outcome of a reply; `null` if it must be tried again later. Throws only unexpected faults. */
async function answerOf(
  answering: Answering,
  feedback: FeedbackDocument,
  of: TaskDocument,
): Promise<Answer | null> {
  try {
    return await writeAnswer(answering, feedback, of)
  } catch (fault) {
    if (fault instanceof Fault) return failed(fault.code, fault.message)
    if (!(fault instanceof CodeHostFault)) throw fault
    if (!restsAfter(answering, of.owner, fault)) return failed('code_host_refused', fault.message)
    answering.logger.debug({ err: fault, taskId: of.id }, 'answers on pull requests have to wait')
    return null
  }
}

async function writeAnswer(
  { documents, codeHost, access }: Answering,
  feedback: FeedbackDocument,
  of: TaskDocument,
): Promise<Answer> {
  const { id: taskId, projectId, owner } = of
  const { number } = feedback
  const inProject = await documents.get(projectsView, projectId)
  if (!inProject || number === null) return gone
  const pull = await documents.get(pullRequestsView, taskId)
  const token = await access.tokenOf(owner)
  // Uses the id, which outlives a rename, unless the feedback belongs to an earlier pull request.
  const key: PullRequestKey =
    pull?.number === number && pull.nodeId !== null
      ? { nodeId: pull.nodeId }
      : { repository: { owner: inProject.githubOwner, name: inProject.githubRepoName }, number }
  const [found] = await codeHost.pullRequestStates(token, [key])
  if (found?.kind !== 'read')
    return failed('code_host_refused', 'The code host no longer shows the pull request.')
  const { repositoryId, nodeId } = found.pullRequest
  const expected = pull?.repositoryId ?? (inProject.githubRepoId || repositoryId)
  if (repositoryId !== expected)
    return failed('code_host_refused', 'The pull request is in another repository than before.')
  const words = await replyText({ documents }, feedback, of)
  const replyIds = await writeReplies(
    codeHost,
    { token, repository: found.repository, number },
    feedback,
    words,
  )
  return { outcome: { kind: 'answered', replyIds }, on: { token, nodeId, projectId } }
}

/** Resolves the threads if the project wants that. A failure does not undo the reply. */
async function resolveWhereWanted(
  answering: ReplyEngines,
  feedback: FeedbackDocument,
  on: AnsweredOn,
): Promise<void> {
  try {
    await resolve(answering, feedback, on)
  } catch (fault) {
    if (!(fault instanceof CodeHostFault)) throw fault
    const { task: taskId } = feedback
    answering.logger.warn({ err: fault, taskId }, 'failed to resolve threads that were answered')
  }
}

/** Resolves the threads if the project wants that and the reply names a commit. Throws CodeHostFault. */
async function resolve(
  answering: ReplyEngines,
  feedback: FeedbackDocument,
  { token, nodeId, projectId }: AnsweredOn,
): Promise<void> {
  const { feedbackId, task: taskId } = feedback
  const threads = threadsOf(feedback).filter((id) => id !== null)
  const { state } = await answering.commands.load(projectDecider, projectStream(projectId))
  const isWanted = state.kind === 'project' && state.feedback.resolves && feedback.commit !== null
  if (!isWanted || threads.length === 0) return
  if ((await answering.codeHost.resolveThreads(token, nodeId, threads)) === 0) return
  const outcome = { kind: 'resolved', automatic: true } as const
  await settle(answering, taskId, { type: 'SettleFeedback', feedbackId, outcome })
}
