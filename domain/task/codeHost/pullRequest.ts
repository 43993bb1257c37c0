/** Decides about a task's pull request: requests, updates and outcomes. */
import type { Decision } from '../../kernel/decider.ts'
import { refuse } from '../../kernel/errors.ts'
import type { CommandOf, PullRequestOutcome, PullRequestStanding } from '../commands.ts'
import {
  MessagePosted,
  PullRequestAutoUpdateChanged,
  PullRequestFailed,
  PullRequestObserved,
  PullRequestOpened,
  PullRequestRequested,
  PullRequestUnreadable,
  PullRequestUpdated,
  type TaskEvent,
} from '../events.ts'
import { canonicalJson } from '../../kernel/canonicalJson.ts'
import { startsAnew } from './cleanUpState.ts'
import { answersDue } from './feedback.ts'
import { owesAnswer } from './feedbackState.ts'
import { PullRequestDraftRequested, PullRequestStandingObserved } from './feedbackEvents.ts'
import { publishedAs, type TaskPullRequest } from './pullRequestState.ts'
import type { LiveTask } from '../state.ts'

export function requestPullRequest(
  state: LiveTask,
  command: CommandOf<'RequestPullRequest'>,
): Decision<TaskEvent> {
  const { requestId, autoUpdate, tree } = command
  if (state.workspace !== 'ready') return refuse('not_initialized')
  if (state.pendingRestore !== null)
    return refuse(
      'changes_moved',
      'The files are not yet as the undo wants them. Try again in a moment, or send a message: the next turn restores them first.',
    )
  const over = state.pullRequest && endOf(state.pullRequest)
  if (over && command.opensNew !== true) return refuse(over.code, over.sentence)
  if (startsAnew(state.cleanUp))
    return refuse(
      'no_changes',
      'All work of this task was merged. Send a message first: its work goes into a new pull request.',
    )
  if (tree !== undefined && tree !== state.changedTree) return refuse('changes_moved', undefined, 'tree')
  const isOther = autoUpdate !== null && autoUpdate !== state.autoUpdate
  const changed = isOther ? [PullRequestAutoUpdateChanged.of({ on: autoUpdate })] : []
  // A request that is still in progress must end before another request can be recorded.
  if (state.pullRequestRequest !== null)
    return asksForOther(command, state)
      ? refuse('conflict', 'The pull request is being published in another form. Try again in a moment.')
      : changed
  // Files may be half-written while an execution runs.
  if ('execution' in state.phase) return refuse('task_running')
  if (hasNoChanges(state)) return refuse('no_changes')
  const title = command.title ?? command.proposed?.title ?? state.title
  const body = command.body ?? command.proposed?.body ?? state.description
  const rewrites = command.title !== null || command.body !== null
  return [
    ...changed,
    PullRequestRequested.of(
      { requestId, draft: command.draft ?? false, automatic: false, rewrites },
      { title, body, tree: state.changedTree },
    ),
  ]
}

/** Whether the command gives another title or body than the request that is in progress, or another choice of a draft for a new pull request. */
function asksForOther(
  { title, body, draft }: CommandOf<'RequestPullRequest'>,
  { requestedPullRequest: requested, pullRequest }: LiveTask,
): boolean {
  if (requested === null) return false
  const isNew = pullRequest === null || endOf(pullRequest) !== null
  return (
    (title ?? requested.title) !== requested.title ||
    (body ?? requested.body) !== requested.body ||
    (isNew && (draft ?? requested.draft) !== requested.draft)
  )
}

/** Whether a new pull request would be empty: the files have not changed, and no pull request is open. Also `false` while the changes are unknown. */
export function hasNoChanges({
  changedFiles,
  changedTree,
  pullRequest,
}: Pick<LiveTask, 'changedFiles' | 'changedTree' | 'pullRequest'>): boolean {
  const isUnchanged = changedFiles === 0 && changedTree !== null
  return isUnchanged && (pullRequest === null || endOf(pullRequest) !== null)
}

export function recordChanges(state: LiveTask, command: CommandOf<'RecordChanges'>): Decision<TaskEvent> {
  return state.pullRequestRequest === command.requestId ? [command.changes] : refuse('evicted')
}

export function settlePullRequest(
  state: LiveTask,
  command: CommandOf<'SettlePullRequest'>,
): Decision<TaskEvent> {
  const { requestId, outcome, covers, nextRequestId } = command
  if (state.pullRequestRequest !== requestId)
    return refuse('evicted', 'This pull request has already been settled.')
  const events = [...settled(state, requestId, outcome), ...answersDue(state, outcome, covers)]
  const cameTooEarly = outcome.kind === 'failed' && outcome.code === 'task_running'
  const isOwed = state.updateOwed || cameTooEarly
  const isOver = outcome.kind === 'closed' || 'execution' in state.phase || !isOwed
  // A turn may have ended during the publication. The published commit then lacks the turn's work, so another update is requested.
  return isOver ? events : [...events, ...automaticUpdate(after(state, outcome), nextRequestId)]
}

/** Records a report of the code host about the pull request, if it says something new. A report that is older than the recorded report is dropped. */
export function observePullRequest(
  { pullRequest: known }: LiveTask,
  { observed }: CommandOf<'ObservePullRequest'>,
): Decision<TaskEvent> {
  if (known === null || known.number !== observed.number || isOlder(observed, known)) return []
  const { state, draft, updatedAt, mergedAt, standing, ...content } = observed
  const isNews = known.unreadable !== null || !saysTheSame(observed, known)
  return [
    ...(isNews ? [PullRequestObserved.of({ state, draft, updatedAt, mergedAt }, content)] : []),
    ...(standing ? standingOf(known, standing, content) : []),
  ]
}

function standingOf(
  { standing: before }: TaskPullRequest,
  standing: PullRequestStanding,
  { number, headCommit }: { readonly number: number; readonly headCommit: string },
): readonly TaskEvent[] {
  const { headCommit: beforeOf, ...saidBefore } = before ?? { headCommit: null, ...saidNothing }
  // Before the first report, the state is the same as after a report without reviews and checks.
  const isSame = canonicalJson(saidBefore) === canonicalJson(standing)
  if (isSame && (before === undefined || beforeOf === headCommit)) return []
  return [PullRequestStandingObserved.of(standing, { number, headCommit })]
}

const saidNothing = { review: null, checks: null, checksReadable: true } as const

/**
 * Whether a report is older than the recorded report. After a recorded merge, any report without the merge is older. The code host's times have a
 * resolution of one second, so a report with the same time counts as newer.
 */
function isOlder(
  observed: CommandOf<'ObservePullRequest'>['observed'],
  { observed: known }: TaskPullRequest,
): boolean {
  if (known === null) return false
  return (
    (known.state === 'merged' && observed.state !== 'merged') ||
    Date.parse(observed.updatedAt) < Date.parse(known.updatedAt)
  )
}

function saysTheSame(
  observed: CommandOf<'ObservePullRequest'>['observed'],
  { observed: known }: TaskPullRequest,
): boolean {
  return (
    known !== null &&
    known.state === observed.state &&
    known.draft === observed.draft &&
    known.headCommit === observed.headCommit &&
    known.mergedAt === observed.mergedAt &&
    known.mergedBy === observed.mergedBy
  )
}

/** Records the request to make the pull request a draft, or ready for review. Refuses if there is none, or if it is merged or closed. */
export function requestDraft(
  { pullRequest }: LiveTask,
  { draft }: CommandOf<'RequestDraft'>,
): Decision<TaskEvent> {
  if (pullRequest === null) return refuse('not_found', 'This task has no pull request.')
  const over = endOf(pullRequest)
  return over ? refuse(over.code, over.sentence) : [PullRequestDraftRequested.of({ draft })]
}

export function missPullRequest(
  { pullRequest }: LiveTask,
  { number, code }: CommandOf<'MissPullRequest'>,
): Decision<TaskEvent> {
  return pullRequest === null || pullRequest.number !== number || pullRequest.unreadable === code
    ? []
    : [PullRequestUnreadable.of({ code })]
}

/** Why the pull request cannot be updated any more; `null` while it is open according to the last report, and before the first report. */
export function endOf({ number, observed }: TaskPullRequest) {
  switch (observed?.state) {
    case 'merged':
      return {
        code: 'pull_request_merged',
        sentence: `Pull request #${number} was merged. Open a new one for work done since.`,
      } as const
    case 'closed':
      return {
        code: 'pull_request_closed',
        sentence: `Pull request #${number} was closed. Reopen it on GitHub, or open a new one.`,
      } as const
    default:
      return null
  }
}

/** The chat message for a turn whose pull request is no longer open. */
export function noLongerOpen(number: number | null): string {
  return `Pull request #${number} is no longer open, so automatic updates have stopped. Open a new one for work done since.`
}

/**
 * The events after a completed turn that update the pull request: a request, if automatic updates are on or feedback was worked on. If the pull
 * request is merged or closed, automatic updates are turned off instead, and a chat message says so.
 */
export function automaticUpdate(
  {
    autoUpdate,
    pullRequest,
    title,
    description,
    changedTree: tree,
    feedback,
  }: Pick<LiveTask, 'autoUpdate' | 'pullRequest' | 'title' | 'description' | 'changedTree' | 'feedback'>,
  requestId: string,
  executionId?: string,
): readonly TaskEvent[] {
  if (pullRequest === null || !(autoUpdate || owesAnswer({ feedback }, executionId))) return []
  if (endOf(pullRequest) !== null) {
    // If automatic updates are already off, the chat needs no message that they have stopped.
    if (!autoUpdate) return []
    return [
      PullRequestAutoUpdateChanged.of({ on: false }),
      ...toldInChat(requestId, noLongerOpen(pullRequest.number)),
    ]
  }
  const asked = { requestId, draft: false, automatic: true, rewrites: false }
  return [PullRequestRequested.of(asked, { title, body: description, tree })]
}

/**
 * The events after a turn that open a draft pull request, which later turns update. None when the task has no known changes, or already has or had a
 * pull request, and none for a task that is compared with alternatives, because a person must first choose one of them.
 */
export function firstDraft(
  { title, description, changedTree: tree, changedFiles, autoUpdate, ...state }: LiveTask,
  requestId: string,
): readonly TaskEvent[] {
  const isCompared = state.original !== null || state.alternatives.length > 0
  const hasOne = state.pullRequest !== null || state.pullRequestRequest !== null
  if (isCompared || hasOne || tree === null || changedFiles === 0) return []
  const asked = { requestId, draft: true, automatic: true, rewrites: false }
  return [
    ...(autoUpdate ? [] : [PullRequestAutoUpdateChanged.of({ on: true })]),
    PullRequestRequested.of(asked, { title, body: description, tree }),
  ]
}

/** Repeats the request for an update that failed because access was lost, unless a turn runs: the update after the turn publishes this work too. */
export function retryUpdate(state: LiveTask, { requestId }: CommandOf<'RetryUpdate'>): Decision<TaskEvent> {
  const { lostAccess, pullRequest, pullRequestRequest, pendingRestore, workspace, phase, cleanUp } = state
  const isOver = pullRequest === null || endOf(pullRequest) !== null || startsAnew(cleanUp)
  const mayNow = workspace === 'ready' && pendingRestore === null && !('execution' in phase)
  if (!lostAccess || pullRequestRequest !== null || isOver || !mayNow) return []
  return automaticUpdate(state, requestId)
}

function after(task: LiveTask, outcome: PullRequestOutcome): LiveTask {
  if (!('number' in outcome)) return task
  return { ...task, pullRequest: publishedAs(task.pullRequest, outcome) }
}

function settled(
  { pullRequest }: LiveTask,
  requestId: string,
  outcome: PullRequestOutcome,
): readonly TaskEvent[] {
  switch (outcome.kind) {
    case 'failed': {
      const { code, reason, messageId = null } = outcome
      return [
        PullRequestFailed.of({ requestId, code }, { reason }),
        ...toldInChat(messageId, `The pull request was not ${pullRequest ? 'updated' : 'opened'}: ${reason}`),
      ]
    }
    case 'closed': {
      const { reason, messageId } = outcome
      return [
        PullRequestFailed.of({ requestId, code: 'pull_request_closed' }, { reason }),
        PullRequestAutoUpdateChanged.of({ on: false }),
        ...toldInChat(messageId, reason),
      ]
    }
    case 'opened':
    case 'updated': {
      const { number, url, headCommit, messageId, notesRefused = null } = outcome
      const kind = outcome.kind === 'opened' ? PullRequestOpened : PullRequestUpdated
      const done = outcome.kind === 'opened' ? 'created' : 'updated'
      const notes =
        notesRefused === null
          ? ''
          : `\n\nThe origin of its lines was not published beside the commits: ${notesRefused}.`
      return [
        kind.of({ requestId }, { number, url, headCommit }),
        ...toldInChat(messageId, `Pull request #${number} ${done} successfully: ${url}${notes}`),
      ]
    }
  }
}

function toldInChat(messageId: string | null, message: string): readonly TaskEvent[] {
  if (messageId === null) return []
  const data = { messageId, messageType: 'system', agent: null, executionId: null } as const
  return [MessagePosted.of(data, { message })]
}
