/** What is said of one event in the timeline. */
import type { TaskEventMessage } from '../api/socket.schema.ts'
import type { EndStatus } from '../task/phase.ts'
import { outcomeOf } from '../views/chat.ts'
import { ofCleanUp } from './cleanUpRow.ts'
import { excerpt } from './excerpt.ts'

/** What a row is about: it has an icon, and filters choose by it. */
export type RowKind =
  | 'task'
  | 'message'
  | 'answer'
  | 'setup'
  | 'read'
  | 'edit'
  | 'command'
  | 'search'
  | 'fetch'
  | 'plan'
  | 'tool'
  | 'changes'
  | 'commit'
  | 'pull_request'
  | 'turn'

/** A person, the agent by its name, the server's runner, or the code host. */
export type Who = 'person' | 'runner' | 'code_host' | { readonly agent: string }

export interface TimelineRow {
  /** The revision of its event in the task's stream. */
  readonly revision: number
  /** The revision of the last event that it tells of. */
  readonly until: number
  /** When it happened, ISO 8601. */
  readonly at: string
  readonly kind: RowKind
  readonly sentence: string
  /** More words about it: an excerpt, a result. */
  readonly detail: string
  readonly who: Who
  /** `null` where it has no end that could fail. */
  readonly outcome: 'running' | EndStatus | null
  readonly durationMs: number | null
  readonly costUsd: number
  /** How many of the same kind were put in one row, and what each was about. */
  readonly targets: readonly string[]
}

/** Names that events do not hold. */
export interface Names {
  readonly person: string
  /** Owner and name of the repository. */
  readonly repository: string
}

type Event<Type extends TaskEventMessage['type']> = Extract<TaskEventMessage, { type: Type }>

interface Around {
  /** The agent that works on the task. */
  readonly agent: string
  /** Of the execution that goes on, or went on last. */
  readonly kind: 'turn' | 'command'
}

type Said = Pick<TimelineRow, 'kind' | 'sentence' | 'who'> &
  Partial<Pick<TimelineRow, 'detail' | 'outcome' | 'durationMs'>>

/** The row of an event; `null` for events that say nothing to a person, and tool calls, which have `toolRow`. */
export function rowOf(event: TaskEventMessage, names: Names, around: Around): TimelineRow | null {
  const said =
    ofPerson(event, names) ??
    ofRun(event, around) ??
    ofPullRequest(event) ??
    ofFeedback(event) ??
    ofCleanUp(event) ??
    ofOtherTasks(event)
  if (said === null) return null
  return { ...place(event), detail: '', outcome: null, durationMs: null, ...said }
}

function place({ revision, at }: TaskEventMessage) {
  return { revision, until: revision, at, costUsd: 0, targets: [] }
}

/** What the person did. */
function ofPerson(event: TaskEventMessage, { person }: Names): Said | null {
  const did = (kind: RowKind, sentence: string, detail = ''): Said => ({
    kind,
    sentence,
    detail,
    who: 'person',
  })
  switch (event.type) {
    case 'TaskCreated':
      return did('task', 'Task created', event.content ? `from branch ${event.content.branch}` : '')
    case 'TaskUpdated':
      return did('task', 'Title or description changed', excerpt(event.content?.title))
    case 'TaskDeleted':
      return did('task', 'Task deleted')
    case 'ModelChosen':
      return did('task', `Model chosen for ${event.data.agent}`, event.content?.model ?? 'its default')
    case 'MessageQueued': {
      const words = excerpt(event.content?.message)
      return event.data.kind === 'command'
        ? did('message', `Command from ${person}`, words)
        : did('message', `Message from ${person}`, words)
    }
    case 'MessageEdited':
      return did('message', 'Changed a message in the queue', excerpt(event.content?.message))
    case 'MessageWithdrawn':
      return did('message', 'Took a message back out of the queue')
    case 'QueueReordered':
      return did('message', 'Put the queue in another order')
    case 'SecretsGranted':
      return did('message', "Let the command use the project's secrets")
    case 'SteeringRequested':
      return did('message', 'Sent a message into the running turn')
    case 'CancellationRequested':
      return did('turn', 'Asked to stop')
    default:
      return null
  }
}

/** What the runner and the agent did. */
function ofRun(event: TaskEventMessage, { agent, kind }: Around): Said | null {
  const thing = kind === 'command' ? 'The command' : 'The turn'
  const ran = (sentence: string, more: Partial<Said> = {}): Said => ({
    kind: 'turn',
    sentence,
    who: 'runner',
    ...more,
  })
  switch (event.type) {
    case 'ExecutionStarted':
      return event.data.attempt === 1
        ? null
        : ran(`Another runner took the work up, attempt ${event.data.attempt}`, { kind: 'setup' })
    case 'WorkspacePreparing':
      return ran('Cloning the repository', { kind: 'setup', outcome: 'running' })
    case 'AgentStarted': {
      const { agent: name, version, resumed } = event.data
      return ran(resumed ? `${name} went on with its session` : `${name} started`, {
        kind: 'setup',
        detail: version,
      })
    }
    case 'MessagePosted':
      return posted(event, agent)
    case 'WorkspaceChanged':
      return event.content?.tree === null || event.data.files === 0 ? null : ran(...changedWords(event))
    case 'ExecutionCompleted': {
      const outcome = outcomeOf(event, kind === 'command')
      const { exitCode } = event.data
      if (outcome === 'failed') return ran(`${thing} failed`, { outcome, detail: exitWords(exitCode) })
      return ran(`${thing} finished`, { outcome })
    }
    case 'ExecutionFailed':
      return ran(`${thing} failed`, { outcome: 'failed', detail: excerpt(event.content?.reason) })
    case 'ExecutionCancelled':
      return ran(`${thing} was stopped`, { outcome: 'cancelled' })
    default:
      return null
  }
}

function posted({ data, content }: Event<'MessagePosted'>, agent: string): Said | null {
  const detail = excerpt(content?.message)
  switch (data.messageType) {
    case 'response':
      return {
        kind: 'answer',
        sentence: `Answer from ${data.agent ?? agent}`,
        detail,
        who: { agent: data.agent ?? agent },
      }
    case 'error':
      // The end of the turn says it again.
      return null
    case 'system':
      return { kind: 'task', sentence: 'Note', detail, who: 'runner' }
  }
}

function changedWords({ data, content }: Event<'WorkspaceChanged'>): [string, Partial<Said>] {
  const { files, additions, deletions } = data
  const sentence = `${files} ${files === 1 ? 'file differs' : 'files differ'} from ${content?.baseBranch ?? 'the base'}`
  return [sentence, { kind: 'changes', detail: `+${additions} −${deletions}` }]
}

function ofPullRequest(event: TaskEventMessage): Said | null {
  const who: Who = 'runner'
  const kind = 'pull_request'
  switch (event.type) {
    case 'PullRequestRequested':
      return event.data.automatic
        ? null
        : { kind, sentence: 'Asked for a pull request', detail: excerpt(event.content?.title), who: 'person' }
    case 'PullRequestOpened':
      return { kind, sentence: `Pull request${numbered(event)} opened`, outcome: 'completed', who }
    case 'PullRequestUpdated':
      return { kind, sentence: `Pull request${numbered(event)} updated`, outcome: 'completed', who }
    case 'PullRequestFailed':
      return {
        kind,
        sentence: 'The pull request failed',
        detail: excerpt(event.content?.reason),
        outcome: 'failed',
        who,
      }
    case 'PullRequestObserved':
      return { kind, ...stateWords(event), who: 'code_host' }
    case 'PullRequestUnreadable':
      return { kind, sentence: 'The pull request could not be read', outcome: 'failed', who: 'code_host' }
    case 'PullRequestStandingObserved':
      return { kind, ...standingWords(event), who: 'code_host' }
    case 'PullRequestDraftRequested':
      return {
        kind,
        sentence: event.data.draft
          ? 'Asked to make the pull request a draft'
          : 'Asked to mark the pull request as ready for review',
        who: 'person',
      }
    case 'PullRequestAutoUpdateChanged':
      return {
        kind,
        sentence: event.data.on
          ? 'Each turn updates the pull request from now on'
          : 'Turns no longer update the pull request',
        who: 'person',
      }
    default:
      return null
  }
}

function stateWords(event: Event<'PullRequestObserved'>): Pick<Said, 'sentence' | 'outcome'> {
  const { state, draft } = event.data
  const name = `Pull request${numbered(event)}`
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

/** What came back on the pull request, and what became of it. */
function ofFeedback(event: TaskEventMessage): Said | null {
  const kind = 'pull_request'
  switch (event.type) {
    case 'FeedbackReceived': {
      const { content } = event
      const who = 'code_host'
      if (event.data.kind === 'check')
        return { kind, sentence: `Check ${content?.check?.name ?? ''} failed`, outcome: 'failed', who }
      const by = content?.author ? ` from ${content.author.login}` : ''
      const what = event.data.kind === 'review' ? 'Review' : 'Comment'
      return {
        kind,
        sentence: `${what}${by}`,
        detail: excerpt(content?.body || content?.comments[0]?.body),
        who,
      }
    }
    case 'FeedbackSent':
      return event.data.automatic
        ? { kind, sentence: "Sent feedback to the agent by the project's rule", who: 'runner' }
        : { kind, sentence: 'Sent feedback to the agent', who: 'person' }
    case 'FeedbackDismissed':
      return { kind, sentence: 'Dismissed feedback', who: 'person' }
    case 'FeedbackRestored':
      return { kind, sentence: 'Took dismissed feedback back', who: 'person' }
    case 'FeedbackAnswered':
      return { kind, sentence: 'Answered on the pull request', outcome: 'completed', who: 'runner' }
    case 'FeedbackAnswerFailed':
      return {
        kind,
        sentence: 'The answer on the pull request was refused',
        detail: excerpt(event.content?.reason),
        outcome: 'failed',
        who: 'runner',
      }
    case 'FeedbackThreadsResolved':
      return { kind, sentence: 'Resolved threads', who: event.data.automatic ? 'runner' : 'person' }
    default:
      return null
  }
}

/** New tasks that began here or there, and turns that were undone. */
function ofOtherTasks(event: TaskEventMessage): Said | null {
  const did = (sentence: string, detail = ''): Said => ({ kind: 'task', sentence, detail, who: 'person' })
  switch (event.type) {
    case 'TaskCreatedFromTurn':
      return did('Began at the end of a turn of another task', excerpt(event.content?.title))
    case 'TaskCreatedFromIssue':
      return { ...did('Made of an issue', excerpt(event.content?.title)), who: 'runner' }
    case 'IssueCommented':
      return { ...did('Told the issue of this task'), who: 'runner' }
    case 'IssueCommentFailed':
      return { ...did('Could not tell the issue', excerpt(event.content?.reason)), outcome: 'failed' }
    case 'TaskForked':
      return did('A new task began from here', excerpt(event.content?.title))
    case 'TaskCreatedToCompare':
      return did('Created to be compared with another task', excerpt(event.content?.title))
    case 'AlternativeAdded':
      return did('Another task was created to be compared with this one', excerpt(event.content?.title))
    case 'AlternativeRemoved':
      return did('The task to compare this one with could not be created')
    case 'TurnsUndone': {
      const { undone, redone } = event.data
      if (undone.length === 0) return did(`Took ${counted(redone.length, 'undone turn')} back`)
      return did(`Undid ${counted(undone.length, 'turn')}`)
    }
    case 'WorkspaceRestored':
      return { kind: 'changes', sentence: 'Put the files back as they were', who: 'runner' }
    case 'WorkspaceSnapshotTaken':
      return event.data.bundle === null
        ? {
            kind: 'changes',
            sentence: 'The files of this turn could not be saved',
            detail: excerpt(event.content?.missing),
            outcome: 'failed',
            who: 'runner',
          }
        : null
    default:
      return null
  }
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

function numbered({
  content,
}: Event<'PullRequestOpened' | 'PullRequestUpdated' | 'PullRequestObserved'>): string {
  return content ? ` #${content.number}` : ''
}

const toolKinds = {
  read: 'read',
  edit: 'edit',
  run: 'command',
  search: 'search',
  fetch: 'fetch',
  todo: 'plan',
  other: 'tool',
} as const satisfies Record<Event<'ToolStarted'>['data']['kind'], RowKind>

/** The row of a tool call that begins. */
export function toolRow(event: Event<'ToolStarted'>, agent: string): TimelineRow {
  const kind = toolKinds[event.data.kind]
  const targets = [excerpt(event.content?.target) || (event.content?.name ?? '')]
  const row = {
    ...place(event),
    kind,
    targets,
    who: { agent },
    outcome: 'running',
    durationMs: null,
  } as const
  return { ...row, sentence: toolWords(kind, targets), detail: '' }
}

/** Two rows in one, where they are of a kind that comes in numbers and the first went well; otherwise `null`. */
export function groupWith(row: TimelineRow, next: TimelineRow): TimelineRow | null {
  const isMany = row.kind === 'read' || row.kind === 'edit' || row.kind === 'search' || row.kind === 'fetch'
  if (!isMany || row.kind !== next.kind || row.outcome === 'failed') return null
  const targets = [...row.targets, ...next.targets]
  return { ...row, until: next.until, targets, outcome: 'running', sentence: toolWords(row.kind, targets) }
}

/** The row after one of its tool calls has ended. */
export function withToolEnd(
  row: TimelineRow,
  { data, content, revision }: Event<'ToolFinished'>,
): TimelineRow {
  const { ok, exitCode, durationMs, additions, deletions } = data
  const lines = additions === null && deletions === null ? '' : `+${additions ?? 0} −${deletions ?? 0}`
  const failedWith = row.kind === 'command' ? exitWords(exitCode) : excerpt(content?.summary)
  return {
    ...row,
    until: Math.max(row.until, revision),
    outcome: ok ? 'completed' : 'failed',
    detail: ok ? (row.targets.length === 1 ? lines : row.detail) : failedWith || 'failed',
    durationMs: durationMs === null ? row.durationMs : (row.durationMs ?? 0) + durationMs,
  }
}

function exitWords(exitCode: number | null): string {
  return exitCode === null ? '' : `failed, exit ${exitCode}`
}

function toolWords(kind: RowKind, targets: readonly string[]): string {
  const [first = ''] = targets
  const different = [...new Set(targets)]
  switch (kind) {
    case 'read':
      return different.length === 1 ? `Read ${first}` : `Read ${different.length} files`
    case 'edit':
      return different.length <= 3 ? `Edited ${listed(different)}` : `Edited ${different.length} files`
    case 'search':
      return targets.length === 1 ? `Searched for ${first}` : `Searched ${targets.length} times`
    case 'fetch':
      return different.length === 1 ? `Fetched ${first}` : `Fetched ${different.length} pages`
    case 'command':
      return `Ran ${first}`
    case 'plan':
      return 'Updated its plan'
    default:
      return `Used ${first}`
  }
}

function listed(words: readonly string[]): string {
  return words.length <= 1 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
