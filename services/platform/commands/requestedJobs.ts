/** Derives jobs from tasks' open work and from deletions. Has no side effects. */
import type { StoredEvent } from '#domain/kernel/event.ts'
import type { Execution } from '#domain/task/phase.ts'
import type { TaskState } from '#domain/task/state.ts'
import type { Job } from '#platform/ports/jobs.ts'

/** A request of a task, for an execution or a pull request, that has no outcome yet. */
export type OpenWork =
  | {
      readonly kind: 'execution'
      readonly id: string
      readonly taskId: string
      readonly execution: Execution
    }
  | { readonly kind: 'pull_request'; readonly id: string; readonly taskId: string }

/** The requests of a task that have no outcome: an execution, a pull request, or both. */
export function openWorkOf(state: TaskState): readonly OpenWork[] {
  if (state.kind !== 'task') return []
  const { taskId, phase, pullRequestRequest } = state
  const open: OpenWork[] = []
  if ('execution' in phase) {
    const { execution } = phase
    open.push({ kind: 'execution', id: execution.executionId, taskId, execution })
  }
  if (pullRequestRequest !== null) open.push({ kind: 'pull_request', id: pullRequestRequest, taskId })
  return open
}

export function jobFor(work: OpenWork, ownerId: string): Job {
  const { kind, id, taskId } = work
  const named = kind === 'execution' ? { executionId: id } : { requestId: id }
  return { id, kind, person: ownerId, payload: { taskId, ...named } }
}

/** Events that delete something whose data must be erased. */
export const deletions: readonly string[] = ['TaskDeleted', 'ProjectDeleted', 'AccountDeleted']

/** Whether an event deletes something whose data must be erased. */
export function isDeletion({ type }: Pick<StoredEvent, 'type'>): boolean {
  return deletions.includes(type)
}

export function erasureJob({ id, stream, meta }: StoredEvent): Job {
  return {
    id,
    kind: 'erasure',
    payload: { stream, correlationId: meta.correlationId, causationId: id },
  }
}
