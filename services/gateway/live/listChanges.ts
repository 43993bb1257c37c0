/** Finds events that change what lists of tasks show: the status of a task and of its pull request, what the task waits for, and its progress. */
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { parseStream } from '#domain/kernel/streams.ts'
import { toolCallsThatShow } from '#domain/views/tasks.ts'

export type ListChange = 'status' | 'progress'

const statusEvents = new Set([
  'TaskCreated',
  'ExecutionRequested',
  'ExecutionStarted',
  'ExecutionCompleted',
  'ExecutionFailed',
  'ExecutionCancelled',
  'QuestionAsked',
  'QuestionAnswered',
  'QuestionWithdrawn',
  'PullRequestOpened',
  'PullRequestObserved',
  'PullRequestUnreadable',
  'PullRequestStandingObserved',
])
/** Events that change the progress, besides tool calls. */
const progressEvents = new Set(['WorkspacePrepared', 'AgentStarted'])
/** The number of tasks whose tool calls are counted, which is more than run at once. */
const countedTasks = 1_000

/** Whether the event may change a list of tasks. If so, it concerns all viewers who are signed in as the owner of its task. */
export function mayChangeLists({ type, stream }: StoredEvent): boolean {
  return (
    (statusEvents.has(type) || progressEvents.has(type) || type === 'ToolStarted') &&
    parseStream(stream).kind === 'task'
  )
}

export interface ListChanges {
  /** How the event `stored` changes lists of tasks; `null` when it does not change them. */
  of(stored: StoredEvent, taskId: string): ListChange | null
}

/**
 * Counts tool calls per turn. Only the first calls of a turn change the shown progress. The others are ignored, because a sandbox can call tools
 * without end.
 */
export function listChanges(): ListChanges {
  const counted = new LRUCache<string, { readonly executionId: string; readonly count: number }>({
    max: countedTasks,
  })
  function isEarlyToolCall({ type, data }: StoredEvent, taskId: string): boolean {
    const call = type === 'ToolStarted' ? ToolCall.safeParse(data).data : undefined
    if (!call) return false
    const { executionId } = call
    const before = counted.get(taskId)
    const count = before?.executionId === executionId ? before.count + 1 : 1
    counted.set(taskId, { executionId, count })
    return count <= toolCallsThatShow
  }
  return {
    of(stored, taskId) {
      if (statusEvents.has(stored.type)) return 'status'
      return progressEvents.has(stored.type) || isEarlyToolCall(stored, taskId) ? 'progress' : null
    },
  }
}

const ToolCall = z.object({ executionId: z.string() })
