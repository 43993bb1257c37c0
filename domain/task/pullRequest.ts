/** A task's pull request: what asking for one, updating it and settling it lead to. */
import type { Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { CommandOf, PullRequestOutcome } from './commands.ts'
import {
  MessagePosted,
  PullRequestAutoUpdateChanged,
  PullRequestFailed,
  PullRequestOpened,
  PullRequestRequested,
  PullRequestUpdated,
  type TaskEvent,
} from './events.ts'
import type { LiveTask } from './state.ts'

export function requestPullRequest(
  state: LiveTask,
  command: CommandOf<'RequestPullRequest'>,
): Decision<TaskEvent> {
  const { requestId, draft, autoUpdate, tree = null } = command
  if (state.workspace !== 'ready') return refuse('not_initialized')
  if (state.pendingRestore !== null)
    return refuse(
      'changes_moved',
      'The files are not yet as the undo wants them. Try again in a moment, or send a message: the next turn restores them first.',
    )
  if (tree !== null && tree !== state.changedTree) return refuse('changes_moved', undefined, 'tree')
  const isOther = autoUpdate !== null && autoUpdate !== state.autoUpdate
  const changed = isOther ? [PullRequestAutoUpdateChanged.of({ on: autoUpdate })] : []
  // A second request while one is in progress waits for the first.
  if (state.pullRequestRequest !== null) return changed
  // Unfinished work is not published.
  if ('execution' in state.phase) return refuse('task_running')
  if (state.changedFiles === 0 && state.pullRequest === null) return refuse('no_changes')
  const title = command.title ?? command.proposed?.title ?? state.title
  const body = command.body ?? command.proposed?.body ?? state.description
  const rewrites = command.title !== null || command.body !== null
  return [
    ...changed,
    PullRequestRequested.of(
      { requestId, draft, automatic: false, rewrites },
      { title, body, tree: state.changedTree },
    ),
  ]
}

export function recordChanges(state: LiveTask, command: CommandOf<'RecordChanges'>): Decision<TaskEvent> {
  return state.pullRequestRequest === command.requestId ? [command.changes] : refuse('evicted')
}

export function settlePullRequest(
  state: LiveTask,
  command: CommandOf<'SettlePullRequest'>,
): Decision<TaskEvent> {
  const { requestId, outcome, nextRequestId } = command
  if (state.pullRequestRequest !== requestId)
    return refuse('evicted', 'This pull request has already been settled.')
  const events = settled(requestId, outcome)
  const cameTooEarly = outcome.kind === 'failed' && outcome.code === 'task_running'
  const isOwed = state.updateOwed || cameTooEarly
  const isOver = outcome.kind === 'closed' || 'execution' in state.phase || !isOwed
  // The work of a turn that ended during publication may be missing from it.
  return isOver ? events : [...events, ...automaticUpdate(after(state, outcome), nextRequestId)]
}

/** The request by which a successful turn updates the pull request, if there is one and automatic updates are on. */
export function automaticUpdate(
  {
    autoUpdate,
    pullRequest,
    title,
    description,
    changedTree: tree,
  }: Pick<LiveTask, 'autoUpdate' | 'pullRequest' | 'title' | 'description' | 'changedTree'>,
  requestId: string,
): readonly TaskEvent[] {
  if (!autoUpdate || pullRequest === null) return []
  const asked = { requestId, draft: false, automatic: true, rewrites: false }
  return [PullRequestRequested.of(asked, { title, body: description, tree })]
}

/** The task once its pull request has this outcome. */
function after(task: LiveTask, outcome: PullRequestOutcome): LiveTask {
  if (!('number' in outcome)) return task
  const { number, headCommit } = outcome
  return { ...task, pullRequest: { number, headCommit } }
}

function settled(requestId: string, outcome: PullRequestOutcome): readonly TaskEvent[] {
  switch (outcome.kind) {
    case 'failed': {
      const { code, reason, messageId = null } = outcome
      return [
        PullRequestFailed.of({ requestId, code }, { reason }),
        ...toldInChat(messageId, `The pull request was not updated: ${reason}`),
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
      const { number, url, headCommit, messageId } = outcome
      const kind = outcome.kind === 'opened' ? PullRequestOpened : PullRequestUpdated
      const done = outcome.kind === 'opened' ? 'created' : 'updated'
      return [
        kind.of({ requestId }, { number, url, headCommit }),
        ...toldInChat(messageId, `Pull request #${number} ${done} successfully: ${url}`),
      ]
    }
  }
}

function toldInChat(messageId: string | null, message: string): readonly TaskEvent[] {
  if (messageId === null) return []
  const data = { messageId, messageType: 'system', agent: null, executionId: null } as const
  return [MessagePosted.of(data, { message })]
}
