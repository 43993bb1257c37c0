/** The fields of a task's document about the running or last execution: its steps, usage, progress and context. */
import type { Task } from '../api/tasks.schema.ts'
import type { AnyRecorded } from './view.ts'

export type ShownExecution = NonNullable<Task['execution']>

export const nothingUsed = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

export function step(
  execution: ShownExecution | null,
  change: Partial<ShownExecution>,
  reached?: ShownExecution['steps'][number],
): ShownExecution | null {
  if (execution === null) return null
  return { ...execution, ...change, steps: reached ? [...execution.steps, reached] : execution.steps }
}

export function used(
  execution: ShownExecution | null,
  more: NonNullable<ShownExecution['usage']> & { readonly executionId: string },
): ShownExecution | null {
  if (execution === null || execution.id !== more.executionId) return execution
  const { inputTokens, outputTokens, costUsd } = execution.usage ?? nothingUsed
  return {
    ...execution,
    usage: {
      inputTokens: inputTokens + more.inputTokens,
      outputTokens: outputTokens + more.outputTokens,
      costUsd: costUsd + more.costUsd,
    },
  }
}

/**
 * The progress in percent after this many tool calls. Nobody knows how many calls will follow, so each call covers a tenth of the remaining way to
 * 95.
 */
export function progressAfter(toolCalls: number): number {
  return Math.round(95 - 80 * 0.9 ** toolCalls)
}

/** How full the context window is after the event. For a new conversation, and for another agent, this is unknown until it is measured. */
export function contextAfter(
  task: Pick<Task, 'agent' | 'context'>,
  event: AnyRecorded,
): Pick<Task, 'context'> {
  if (event.type === 'ContextMeasured') return { context: event.data.context }
  if (event.type !== 'AgentStarted' || !task.context) return {}
  return event.data.resumed && event.data.agent === task.agent ? {} : { context: null }
}
