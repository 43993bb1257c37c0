/** The timeline's row for one event. */
import { labelOf } from '../agents.ts'
import type { TaskEventMessage } from '../api/socket.schema.ts'
import type { McpServerReport } from '../mcp/mcpReport.ts'
import { retrySentence, timeInUtc } from '../task/modelRetry.ts'
import { outcomeOf } from '../views/chat.ts'
import { excerpt, plainExcerpt } from './excerpt.ts'
import { exitWords, plainRow, type RowKind, type TimelineRow } from './row.ts'
import {
  isBranchGone,
  isBranchUnknown,
  isWorkspaceGone,
  isWorkspaceUnknown,
  type BranchOutcome,
  type WorkspaceOutcome,
} from '../api/cleanUp.ts'

/** Names that occur in the timeline but not in the events. */
export interface Names {
  readonly person: string
  readonly repository: string
}

type Event<Type extends TaskEventMessage['type']> = Extract<TaskEventMessage, { type: Type }>

interface Around {
  readonly agent: string
  /** The kind of the running or last execution. */
  readonly kind: 'turn' | 'command'
}

type Said = Pick<TimelineRow, 'kind' | 'sentence' | 'who'> &
  Partial<Pick<TimelineRow, 'detail' | 'outcome' | 'durationMs' | 'begun'>>

type Sentences = {
  readonly [Type in TaskEventMessage['type']]?: (event: Event<Type>, context: Names & Around) => Said | null
}

/** The row of an event; `null` for an event that does not matter to people, and for events whose rows other functions make, such as tool calls. */
export function rowOf(event: TaskEventMessage, names: Names, around: Around): TimelineRow | null {
  // The cast holds because `sentences` has, under each event type, a function that takes events of this type.
  const said = (sentences[event.type] as Sentence | undefined)?.(event, { ...names, ...around })
  if (!said) return null
  const knownAt = said.outcome === 'running' ? Infinity : event.revision
  return { ...plainRow(event), begun: said.sentence, ...said, knownAt }
}

type Sentence = (event: TaskEventMessage, context: Names & Around) => Said | null

function did(kind: RowKind, sentence: string, detail = ''): Said {
  return { kind, sentence, detail, who: 'person' }
}

function ran(kind: RowKind, sentence: string, more: Partial<Said> = {}): Said {
  return { kind, sentence, who: 'runner', ...more }
}

const pullRequest = 'pull_request'

const sentences: Sentences = {
  TaskCreated: ({ content }) => did('task', 'Task created', content ? `from branch ${content.branch}` : ''),
  TaskUpdated: ({ content }) => did('task', 'Title or description changed', excerpt(content?.title)),
  TaskDeleted: () => did('task', 'Task deleted'),
  ModelChosen: ({ data, content }) =>
    did('task', `Model chosen for ${data.agent}`, modelWords(content?.model ?? 'its default', data.effort)),
  MessageQueued: ({ data, content }, { person }) =>
    data.kind === 'command'
      ? did('message', `Command from ${person}`, excerpt(content?.message))
      : did('message', `Message from ${person}`, plainExcerpt(content?.message)),
  MessageEdited: ({ content }) =>
    did('message', 'Changed a message in the queue', plainExcerpt(content?.message)),
  MessageWithdrawn: () => did('message', 'Took a message back out of the queue'),
  QueueReordered: () => did('message', 'Put the queue in another order'),
  ShellOpened: () => did('message', 'Opened a shell'),
  SecretsGranted: () => did('message', "Let the command use the project's secrets"),
  SteeringRequested: () => did('message', 'Sent a message into the running turn'),
  CancellationRequested: () => did('turn', 'Asked to stop'),

  ExecutionStarted: ({ data: { attempt } }) =>
    attempt === 1 ? null : ran('setup', `Another runner took the work up, attempt ${attempt}`),
  WorkspacePreparing: () => ran('setup', 'Cloning the repository', { outcome: 'running' }),
  AgentStarted({ data: { agent, version, resumed, payer, model, effort } }, { person }) {
    const began = resumed ? 'continued the conversation' : 'started'
    const paid = { person: `Paid by the key of ${person}`, project: "Paid by the project's key", server: '' }
    const words = [modelWords(model, effort), paid[payer ?? 'server']].filter((part) => part !== '')
    return ran('setup', `${labelOf(agent)} ${version} ${began}`, { detail: words.join('. ') })
  },
  McpServersReported({ content }) {
    const servers = content?.servers ?? []
    const isGood = servers.every(({ status }) => status === 'connected' || status === 'given')
    const outcome = isGood ? 'completed' : 'failed'
    return ran('setup', 'MCP servers', { detail: servers.map(mcpServerWords).join(' '), outcome })
  },
  AgentActedUnasked: ({ data: { agent }, content }) =>
    ran('turn', `${labelOf(agent)} worked on its own between messages`, {
      detail: excerpt(content?.said),
      who: { agent },
    }),
  ModelRetryScheduled: ({ data }) => ran('turn', retrySentence(data.code, timeInUtc(data.retryAt))),
  MessagePosted({ data, content }, { agent: current }) {
    const detail = plainExcerpt(content?.message)
    const agent = data.agent ?? current
    if (data.messageType === 'response')
      return { kind: 'answer', sentence: `Answer from ${labelOf(agent)}`, detail, who: { agent } }
    // An error also ends the turn, and the row for the end of the turn shows the error.
    return data.messageType === 'error' ? null : ran('task', 'Note', { detail })
  },
  ThinkingRecorded: ({ data: { agent, durationMs }, content }) => ({
    kind: 'answer',
    sentence: 'Thought',
    detail: plainExcerpt(content?.text),
    who: { agent },
    durationMs,
  }),
  SubagentSaid: ({ data: { agent, isThought }, content }) => ({
    kind: 'tool',
    sentence: isThought ? 'A sub-agent thought' : 'A sub-agent said',
    detail: plainExcerpt(content?.text),
    who: { agent },
  }),
  ArtifactKept: ({ content }, { agent }) => ({
    kind: 'tool',
    sentence: 'Left a file',
    detail: excerpt(content?.name),
    who: { agent },
  }),
  ExecutionCompleted(event, { kind }) {
    const outcome = outcomeOf(event, kind === 'command')
    return outcome === 'failed'
      ? ended(kind, 'failed', { outcome, detail: exitWords(event.data.exitCode) })
      : ended(kind, 'finished', { outcome })
  },
  ExecutionFailed: ({ content }, { kind }) =>
    ended(kind, 'failed', { outcome: 'failed', detail: excerpt(content?.reason) }),
  ExecutionCancelled: (_, { kind }) => ended(kind, 'was stopped', { outcome: 'cancelled' }),

  PullRequestRequested: ({ data, content }) =>
    data.automatic ? null : did(pullRequest, 'Asked for a pull request', excerpt(content?.title)),
  PullRequestOpened: (event) => ran(pullRequest, `${named(event)} opened`, { outcome: 'completed' }),
  PullRequestUpdated: (event) => ran(pullRequest, `${named(event)} updated`, { outcome: 'completed' }),
  PullRequestFailed: ({ content }) =>
    ran(pullRequest, 'The pull request failed', {
      begun: 'Pull request',
      detail: excerpt(content?.reason),
      outcome: 'failed',
    }),
  PullRequestObserved: (event) =>
    ran(pullRequest, '', { ...stateWords(event), begun: named(event), who: 'code_host' }),
  PullRequestUnreadable: () =>
    ran(pullRequest, 'The pull request could not be read', { outcome: 'failed', who: 'code_host' }),
  PullRequestStandingObserved: (event) =>
    ran(pullRequest, '', { ...standingWords(event), begun: 'Pull request', who: 'code_host' }),
  PullRequestDraftRequested: ({ data }) =>
    did(
      pullRequest,
      data.draft
        ? 'Asked to make the pull request a draft'
        : 'Asked to mark the pull request as ready for review',
    ),
  PullRequestAutoUpdateChanged: ({ data }) =>
    did(
      pullRequest,
      data.on ? 'Each turn updates the pull request from now on' : 'Turns no longer update the pull request',
    ),

  FeedbackReceived({ data, content }) {
    const who = 'code_host'
    if (data.kind === 'check') {
      const begun = `Check ${content?.check?.name ?? ''}`
      return ran(pullRequest, `${begun} failed`, { begun, outcome: 'failed', who })
    }
    const by = content?.author ? ` from ${content.author.login}` : ''
    const what = data.kind === 'review' ? 'Review' : 'Comment'
    const detail = plainExcerpt(content?.body || content?.comments[0]?.body)
    return ran(pullRequest, `${what}${by}`, { detail, who })
  },
  FeedbackSent: ({ data }) =>
    data.automatic
      ? ran(pullRequest, "Sent feedback to the agent by the project's rule")
      : did(pullRequest, 'Sent feedback to the agent'),
  FeedbackDismissed: () => did(pullRequest, 'Dismissed feedback'),
  FeedbackRestored: () => did(pullRequest, 'Took dismissed feedback back'),
  FeedbackAnswered: () => ran(pullRequest, 'Answered on the pull request', { outcome: 'completed' }),
  FeedbackAnswerFailed: ({ content }) =>
    ran(pullRequest, 'The answer on the pull request was refused', {
      detail: excerpt(content?.reason),
      outcome: 'failed',
    }),
  FeedbackThreadsResolved: ({ data }) =>
    ran(pullRequest, 'Resolved threads', { who: data.automatic ? 'runner' : 'person' }),
  TaskCleanUpRequested: () => did(pullRequest, 'Asked to clean up after the pull request'),
  TaskCleanedUp({ data }) {
    const left = leftBy(data)
    return left === null
      ? ran(pullRequest, 'Removed the branch and the workspace', { outcome: 'completed' })
      : ran(pullRequest, left, { outcome: 'failed' })
  },

  TaskCreatedFromTurn: ({ content }) =>
    did('task', 'Began at the end of a turn of another task', excerpt(content?.title)),
  TaskCreatedFromIssue: ({ content }) => ran('task', 'Made of an issue', { detail: excerpt(content?.title) }),
  IssueCommented: () => ran('task', 'Told GitHub of this task'),
  IssueCommentUpdated: () => ran('task', 'Told GitHub how far this task is'),
  IssueCommentFailed: ({ content }) => ({
    ...did('task', 'Could not tell GitHub', excerpt(content?.reason)),
    outcome: 'failed',
  }),
  TaskForked: ({ content }) => did('task', 'A new task began from here', excerpt(content?.title)),
  TaskCreatedToCompare: ({ content }) =>
    did('task', 'Created to be compared with another task', excerpt(content?.title)),
  AlternativeAdded: ({ content }) =>
    did('task', 'Another task was created to be compared with this one', excerpt(content?.title)),
  AlternativeRemoved: () => did('task', 'The task to compare this one with could not be created'),
  TurnsUndone: ({ data: { undone, redone } }) =>
    undone.length === 0
      ? did('task', `Took ${counted(redone.length, 'undone turn')} back`)
      : did('task', `Undid ${counted(undone.length, 'turn')}`),
  WorkspaceRestored: () => ran('changes', 'Put the files back as they were'),
  WorkspaceSnapshotTaken: ({ data, content }) =>
    data.bundle === null
      ? ran('changes', 'The files of this turn could not be saved', {
          detail: excerpt(content?.missing),
          outcome: 'failed',
        })
      : null,
}

function modelWords(model = '', effort?: string): string {
  return [model, effort === undefined ? '' : `${effort} effort`].filter((part) => part !== '').join(', ')
}

/** The status of an MCP server in words, for the timeline and the terminal. */
export function mcpServerWords({ name, status, error, tools }: McpServerReport): string {
  const given = 'given to the agent, which does not say how it is'
  const state = { connected: 'connected', given, failed: 'failed', left_out: 'left out' }[status]
  const having = status === 'connected' ? ` with ${counted(tools.length, 'tool')}` : ''
  return `${name}: ${state}${having}${error === null ? '' : `: ${error}`}`.replace(/(?<![.!?])$/, '.')
}

function ended(kind: Around['kind'], how: string, more: Partial<Said>): Said {
  const thing = kind === 'command' ? 'The command' : 'The turn'
  return ran('turn', `${thing} ${how}`, { ...more, begun: `${thing} ended` })
}

function stateWords(event: Event<'PullRequestObserved'>): Pick<Said, 'sentence' | 'outcome'> {
  const { state, draft } = event.data
  const name = named(event)
  const by = event.content?.mergedBy
  switch (state) {
    case 'merged':
      return { sentence: by ? `${name} merged by ${by}` : `${name} merged`, outcome: 'completed' }
    case 'closed':
      return { sentence: `${name} closed`, outcome: 'cancelled' }
    case 'open':
      return { sentence: draft ? `${name} is a draft` : `${name} is open` }
  }
}

function standingWords({ data }: Event<'PullRequestStandingObserved'>): Pick<Said, 'sentence' | 'outcome'> {
  const reviews = {
    approved: 'approved',
    changes_requested: 'changes requested',
    required: 'review required',
  }
  const { review, checks, checksReadable } = data
  const parts = [
    ...(review === null ? [] : [reviews[review]]),
    ...(checks === null ? [] : [`checks ${checks.state}`]),
    ...(checksReadable ? [] : ['checks cannot be read with this token']),
  ]
  const sentence = `Pull request: ${parts.length === 0 ? 'no reviews and no checks' : parts.join(', ')}`
  return checks?.state === 'failing' ? { sentence, outcome: 'failed' } : { sentence }
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

function named({
  content,
}: Event<'PullRequestOpened' | 'PullRequestUpdated' | 'PullRequestObserved'>): string {
  return content ? `Pull request #${content.number}` : 'Pull request'
}

/** Words for what a clean-up did not remove, or may not have removed: the branch, the workspace or both; `null` when both are gone. */
function leftBy(outcome: {
  readonly branch: BranchOutcome
  readonly workspace: WorkspaceOutcome
}): string | null {
  const { branch, workspace } = outcome
  const unknown = [
    ...(isBranchUnknown(branch) ? ['the branch'] : []),
    ...(isWorkspaceUnknown(workspace) ? ['the workspace'] : []),
  ]
  const kept = [
    ...(isBranchGone(branch) || isBranchUnknown(branch) ? [] : ['the branch']),
    ...(isWorkspaceGone(workspace) || isWorkspaceUnknown(workspace) ? [] : ['the workspace']),
  ]
  const said = [
    ...(kept.length === 0 ? [] : [`left ${kept.join(' and ')} in place`]),
    ...(unknown.length === 0 ? [] : [`may have left ${unknown.join(' and ')}`]),
  ]
  return said.length === 0 ? null : `Clean-up ${said.join(' and ')}`
}

export type Changes = Event<'WorkspaceChanged'>

/** The row for an event with changed files. `null` when the files are as in the event `before`, or while an agent is writing. */
export function changesRow(event: Changes, before: Changes | null): TimelineRow | null {
  const { data, content } = event
  if (content?.tree === null) return null
  const had = before?.data ?? { files: 0, additions: 0, deletions: 0 }
  const isSameTree = content !== null && before?.content?.tree === content.tree
  const isSameSize =
    had.files === data.files && had.additions === data.additions && had.deletions === data.deletions
  if (isSameTree || (isSameSize && (data.files === 0 || content === null))) return null
  const sentence = had.files === 0 ? `${files(data.files)} changed` : differ(data.files, content?.baseBranch)
  const lines = `+${data.additions} −${data.deletions}`
  const detail = had.files === 0 ? lines : `${lines}, before +${had.additions} −${had.deletions}`
  return { ...plainRow(event), kind: 'changes', sentence, begun: sentence, detail, who: 'runner' }
}

const files = (count: number) => `${count} ${count === 1 ? 'file' : 'files'}`

function differ(count: number, base = 'the base'): string {
  if (count === 0) return `No file differs from ${base} any more`
  return `${files(count)} now ${count === 1 ? 'differs' : 'differ'} from ${base}`
}
