/** The timeline's row for one event. */
import { labelOf } from '../agents.ts'
import type { TaskEventMessage } from '../api/socket.schema.ts'
import { retrySentence, timeInUtc } from '../task/modelRetry.ts'
import { outcomeOf } from '../views/chat.ts'
import { ofCleanUp } from './cleanUpRow.ts'
import { excerpt, plainExcerpt } from './excerpt.ts'
import { exitWords, plainRow, type RowKind, type TimelineRow, type Who } from './row.ts'

/** Names that the events do not contain. */
export interface Names {
  readonly person: string
  /** Owner and name of the repository. */
  readonly repository: string
}

type Event<Type extends TaskEventMessage['type']> = Extract<TaskEventMessage, { type: Type }>

interface Around {
  /** The agent that works on the task. */
  readonly agent: string
  /** The kind of the running or last execution. */
  readonly kind: 'turn' | 'command'
}

type Said = Pick<TimelineRow, 'kind' | 'sentence' | 'who'> &
  Partial<Pick<TimelineRow, 'detail' | 'outcome' | 'durationMs' | 'begun'>>

/** The row of an event; `null` for events that mean nothing to a person, and for tool calls, which `toolRow` handles. */
export function rowOf(event: TaskEventMessage, names: Names, around: Around): TimelineRow | null {
  const said =
    ofPerson(event, names) ??
    ofRun(event, around) ??
    ofPullRequest(event) ??
    ofFeedback(event) ??
    ofCleanUp(event) ??
    ofOtherTasks(event)
  if (said === null) return null
  const knownAt = said.outcome === 'running' ? Infinity : event.revision
  return { ...plainRow(event), begun: said.sentence, ...said, knownAt }
}

/** Events of the person. */
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
      const { message } = event.content ?? {}
      return event.data.kind === 'command'
        ? did('message', `Command from ${person}`, excerpt(message))
        : did('message', `Message from ${person}`, plainExcerpt(message))
    }
    case 'MessageEdited':
      return did('message', 'Changed a message in the queue', plainExcerpt(event.content?.message))
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

/** Events of the runner and the agent. */
function ofRun(event: TaskEventMessage, { agent, kind }: Around): Said | null {
  const thing = kind === 'command' ? 'The command' : 'The turn'
  const begun = `${thing} ended`
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
      const did = resumed ? 'continued the conversation' : 'started'
      return ran(`${labelOf(name)} ${version} ${did}`, { kind: 'setup' })
    }
    case 'AgentActedUnasked':
      return ran(`${labelOf(event.data.agent)} worked on its own between messages`, {
        detail: excerpt(event.content?.said),
        who: { agent: event.data.agent },
      })
    case 'ModelRetryScheduled':
      return ran(retrySentence(event.data.code, timeInUtc(event.data.retryAt)))
    case 'MessagePosted':
      return posted(event, agent)
    case 'ExecutionCompleted': {
      const outcome = outcomeOf(event, kind === 'command')
      const { exitCode } = event.data
      if (outcome === 'failed') return ran(`${thing} failed`, { outcome, detail: exitWords(exitCode), begun })
      return ran(`${thing} finished`, { outcome, begun })
    }
    case 'ExecutionFailed':
      return ran(`${thing} failed`, { outcome: 'failed', detail: excerpt(event.content?.reason), begun })
    case 'ExecutionCancelled':
      return ran(`${thing} was stopped`, { outcome: 'cancelled', begun })
    default:
      return null
  }
}

function posted({ data, content }: Event<'MessagePosted'>, agent: string): Said | null {
  const detail = plainExcerpt(content?.message)
  switch (data.messageType) {
    case 'response':
      return {
        kind: 'answer',
        sentence: `Answer from ${labelOf(data.agent ?? agent)}`,
        detail,
        who: { agent: data.agent ?? agent },
      }
    case 'error':
      // The row for the end of the turn says so too.
      return null
    case 'system':
      return { kind: 'task', sentence: 'Note', detail, who: 'runner' }
  }
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
        begun: 'Pull request',
        detail: excerpt(event.content?.reason),
        outcome: 'failed',
        who,
      }
    case 'PullRequestObserved':
      return { kind, ...stateWords(event), begun: `Pull request${numbered(event)}`, who: 'code_host' }
    case 'PullRequestUnreadable':
      return { kind, sentence: 'The pull request could not be read', outcome: 'failed', who: 'code_host' }
    case 'PullRequestStandingObserved':
      return { kind, ...standingWords(event), begun: 'Pull request', who: 'code_host' }
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

/** Feedback on the pull request, and how it was handled. */
function ofFeedback(event: TaskEventMessage): Said | null {
  const kind = 'pull_request'
  switch (event.type) {
    case 'FeedbackReceived': {
      const { content } = event
      const who = 'code_host'
      if (event.data.kind === 'check')
        return {
          kind,
          sentence: `Check ${content?.check?.name ?? ''} failed`,
          begun: `Check ${content?.check?.name ?? ''}`,
          outcome: 'failed',
          who,
        }
      const by = content?.author ? ` from ${content.author.login}` : ''
      const what = event.data.kind === 'review' ? 'Review' : 'Comment'
      return {
        kind,
        sentence: `${what}${by}`,
        detail: plainExcerpt(content?.body || content?.comments[0]?.body),
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

/** Where this task came from, tasks that were created from it, and undone turns. */
function ofOtherTasks(event: TaskEventMessage): Said | null {
  const did = (sentence: string, detail = ''): Said => ({ kind: 'task', sentence, detail, who: 'person' })
  switch (event.type) {
    case 'TaskCreatedFromTurn':
      return did('Began at the end of a turn of another task', excerpt(event.content?.title))
    case 'TaskCreatedFromIssue':
      return { ...did('Made of an issue', excerpt(event.content?.title)), who: 'runner' }
    case 'IssueCommented':
      return { ...did('Told GitHub of this task'), who: 'runner' }
    case 'IssueCommentUpdated':
      return { ...did('Told GitHub how far this task is'), who: 'runner' }
    case 'IssueCommentFailed':
      return { ...did('Could not tell GitHub', excerpt(event.content?.reason)), outcome: 'failed' }
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
