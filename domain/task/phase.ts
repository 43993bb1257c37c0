/** The phase of a task: the queued or running execution, or how the last turn ended. */
import type { AgentName } from '../agents.ts'
import type { ExecutionKind } from './events.ts'

export type EndStatus = 'completed' | 'failed' | 'cancelled'

export interface Execution {
  readonly executionId: string
  readonly kind: ExecutionKind
  readonly messageId: string
  readonly agent: AgentName
  /** How many times a runner has claimed the execution; 0 before the first claim. */
  readonly attempt: number
  readonly cancelRequested: boolean
  /** The ids of messages that were sent after the cancellation was requested. Because of them, the queue continues after the cancellation. */
  readonly sentSinceCancel: readonly string[]
  readonly statusBefore: EndStatus | 'pending'
}

/** The phase of a task. Only a queued or running task has an execution. */
export type Phase =
  | { readonly status: 'pending' | EndStatus }
  | { readonly status: 'queued' | 'running'; readonly execution: Execution }

export interface QueuedMessage {
  readonly messageId: string
  readonly kind: ExecutionKind
  readonly agent: AgentName
}

/** Records a message that was sent after the cancellation was requested, while the execution had not ended yet. */
export function sentIn(phase: Phase, messageId: string): Phase {
  if (!('execution' in phase) || !phase.execution.cancelRequested) return phase
  const { execution } = phase
  const sentSinceCancel = [...execution.sentSinceCancel, messageId]
  return { ...phase, execution: { ...execution, sentSinceCancel } }
}

export function cancelRequestedIn(phase: Phase): Phase {
  return 'execution' in phase ? { ...phase, execution: { ...phase.execution, cancelRequested: true } } : phase
}
