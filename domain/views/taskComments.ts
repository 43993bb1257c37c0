/**
 * The comments about tasks at the code host: one document per task with an issue or a pull request. It has the number of the issue or pull request,
 * and says whether the comment is up to date.
 */
import { sortKey } from '../kernel/event.ts'
import { parseTask } from './chat.ts'
import { todosAfter, withoutDone, type Todo } from './todos.ts'
import { isOneOf, type AnyRecorded, type View, type ViewDocument } from './view.ts'

export interface TaskCommentDocument extends ViewDocument {
  /** The state of the comment. `none`: the task needs no comment. `stale`: the task has changed since the comment was written. */
  readonly comment: 'none' | 'due' | 'written' | 'stale' | 'failed'
  /** The code host's id of the comment; `null` when no comment was written, and when the id was erased. */
  readonly commentId: string | null
  /** Whether the comment shows progress and is kept up to date. Comments by older versions of Flightdeck only link to the task, and never change. */
  readonly isKept: boolean
  /** The revision of the latest event that the comment should show. */
  readonly changedAt: number
  /**
   * The id of the repository of the issue from which the task was created; `null` without an issue. `number` is the number of the issue or pull
   * request. Both are `null` when the content was erased.
   */
  readonly repositoryId: string | null
  readonly number: number | null
  readonly isOnPull: boolean
  /** Whether feedback was sent to the agent since a turn last began, so that the next turn may work on it; `false` for a comment on an issue. */
  readonly isAwaited: boolean
  readonly todos: readonly Todo[]
  readonly order: string
}

/** The types of events after which the task's comment at the code host must be updated. `ToolStarted` counts only for the tool of the to-do list. */
export const toldToIssues = [
  'ExecutionRequested',
  'ExecutionStarted',
  'ExecutionCompleted',
  'ExecutionFailed',
  'ExecutionCancelled',
  'PullRequestOpened',
  'ToolStarted',
] as const

const types = [
  'TaskCreatedFromIssue',
  'IssueCommented',
  'IssueCommentUpdated',
  'IssueCommentFailed',
  'FeedbackSent',
  ...toldToIssues,
  'TaskDeleted',
] as const

export const taskCommentsView: View<TaskCommentDocument> = {
  collection: 'issueLinks',
  version: 4,
  readsFrom: 3,
  streams: ['task'],
  types,
  indexes: [['comment', 'order']],
  touches: (event) =>
    isOneOf(types, event) && (event.type !== 'ToolStarted' || event.data.kind === 'todo')
      ? [parseTask(event.stream)]
      : [],
  evolve: (document, event, id) => {
    if (event.type === 'TaskDeleted') return undefined
    const { revision: version } = event
    if (event.type === 'TaskCreatedFromIssue') {
      const { content, position } = event
      const { repositoryId = null, number = null } = content ?? {}
      const none = { comment: 'due', repositoryId, number, isOnPull: false } as const
      return { id, ...unwritten, ...none, changedAt: version, order: sortKey(position), position, version }
    }
    if (event.type === 'PullRequestOpened' && document?.isOnPull !== false) {
      const { content, position } = event
      const number = content?.number ?? null
      if (document !== undefined && document.number === number) return { ...document, version }
      const none = { comment: 'none', repositoryId: null, number, isOnPull: true } as const
      return { id, ...unwritten, ...none, changedAt: version, order: sortKey(position), position, version }
    }
    if (document === undefined) return undefined
    if (event.type === 'FeedbackSent') return { ...document, isAwaited: document.isOnPull, version }
    if (event.type === 'IssueCommentFailed') return { ...document, comment: 'failed', version }
    if (event.type === 'IssueCommented')
      return { ...document, comment: 'written', commentId: event.content?.commentId ?? null, version }
    if (event.type === 'IssueCommentUpdated') {
      const isStale = event.data.shows < document.changedAt && document.commentId !== null
      return { ...document, comment: isStale ? 'stale' : 'written', isKept: true, version }
    }
    return { ...document, ...changeBy(document, event), changedAt: version, version }
  },
}

const unwritten = { commentId: null, isKept: false, isAwaited: false, todos: [] } as const

function changeBy(
  { comment: before, isKept, isOnPull, isAwaited, todos }: TaskCommentDocument,
  event: AnyRecorded,
): Partial<TaskCommentDocument> {
  const comment = before === 'written' && isKept ? 'stale' : before
  switch (event.type) {
    case 'ToolStarted':
      return { comment, todos: event.content ? todosAfter(todos, event.content) : todos }
    case 'ExecutionStarted': {
      const isBegun = isAwaited && comment === 'none'
      return { comment: isBegun ? 'due' : comment, isAwaited: false, todos: withoutDone(todos) }
    }
    case 'ExecutionCompleted':
    case 'ExecutionFailed':
    case 'ExecutionCancelled':
      // On a pull request, the reply to the feedback replaces a progress comment that was not written in time.
      return { comment: isOnPull && comment === 'due' ? 'none' : comment }
    default:
      return { comment }
  }
}
