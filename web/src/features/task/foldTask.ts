/** Folds an event into the open task with the server's own view, so that both ends see the same. */
import type { Task } from '#domain/api/tasks.schema.ts'
import type { TaskEventMessage, TaskStatusChanged } from '#domain/api/socket.schema.ts'
import { sortKey } from '#domain/kernel/event.ts'
import { currentBranchOf, shownOf, tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { statusOf } from '../tasks/statusOf.ts'

/** The task after an event; `null` when it is deleted. An event that it has seen changes nothing. */
export function foldTask(task: Task, event: TaskEventMessage): Task | null {
  if (event.revision <= task.version) return task
  const document = tasksView.evolve(documentOf(task), event, task.id)
  if (document === undefined) return null
  // How far it is and how it stands need more than the API shows; the server says both beside each event.
  return {
    ...shownOf(document),
    project: task.project,
    images: task.images,
    currentBranch: currentBranchOf(document) ?? task.currentBranch,
    status: task.status,
    progress: task.progress,
  }
}

/** The task with the status that was said last, unless it was read from the server after that: at `readAt`. */
export function withStatus(task: Task, said: TaskStatusChanged | null, readAt: number): Task {
  if (said === null || said.version <= readAt) return task
  return { ...task, status: statusOf(said.status), progress: said.progress }
}

/** The document as far as the API shows it. */
function documentOf({
  project: _project,
  images: _images,
  currentBranch: _currentBranch,
  ...shown
}: Task): TaskDocument {
  return {
    ...shown,
    order: sortKey(shown.position),
    executions: shown.execution?.turn ?? 0,
    statusBefore: 'pending',
    workspace: 'none',
    toolCalls: 0,
    recorded: null,
    pullRequestWords: null,
    autoUpdate: false,
    images: [],
  }
}
