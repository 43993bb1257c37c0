/** Histories of one task, named by the state in which they leave it, as a starting point for tests. */
import {
  AgentStarted,
  CancellationRequested,
  ExecutionCancelled,
  ExecutionCompleted,
  ExecutionFailed,
  ExecutionRequested,
  ExecutionStarted,
  MessageDelivered,
  MessageQueued,
  TaskCreated,
  TaskDeleted,
  ToolStarted,
  WorkspaceChanged,
  WorkspacePrepared,
  type ExecutionKind,
  type TaskEvent,
} from '#domain/task/events.ts'
import type { AgentName } from '#domain/agents.ts'
import { WorkspaceSnapshotTaken } from '#domain/task/snapshotEvents.ts'
import { executionId, messageId, projectId, taskId, userId } from './ids.ts'

type History = readonly TaskEvent[]
type Reason = 'start' | 'follow_up' | 'retry'

export const title = 'Add a greeting'
export const description = 'Add a greeting\nSay hello to whoever starts the program.'

export const created = TaskCreated.of(
  { taskId: taskId(1), ownerId: userId(1), projectId: projectId(1), agent: 'claude' },
  { title, description, branch: 'main', codexModel: 'o4-mini' },
)

export const waits = (
  n: number,
  kind: ExecutionKind = 'turn',
  agent: AgentName = 'claude',
  message = `message ${n}`,
) => MessageQueued.of({ messageId: messageId(n), kind, agent, images: [] }, { message, imageNames: [] })

/** Execution `n` is requested for message `n`, unless another is named. */
export const requested = (
  n: number,
  reason: Reason = 'follow_up',
  {
    message = n,
    kind = 'turn',
    agent = 'claude',
  }: { message?: number; kind?: ExecutionKind; agent?: AgentName } = {},
) =>
  ExecutionRequested.of({ executionId: executionId(n), reason, messageId: messageId(message), kind, agent })

/** The snapshot at the end of execution `n`. */
export const snapshotTaken = (n: number) =>
  WorkspaceSnapshotTaken.of(
    {
      executionId: executionId(n),
      bundle: { hash: `${n}`.padStart(64, '0'), size: 100 + n },
      session: { agent: 'claude', blob: { hash: `${n}`.padStart(64, 'a'), size: 200 + n } },
      leftOut: 0,
    },
    { work: `${n}`.padStart(40, 'b'), leftOutPaths: [], missing: null },
  )

export const started = (n: number, attempt = 1, message = n) =>
  ExecutionStarted.of({
    executionId: executionId(n),
    messageId: messageId(message),
    attempt,
    runnerId: 'runner-1',
  })

export const delivered = (n: number, execution = n) =>
  MessageDelivered.of({ messageId: messageId(n), executionId: executionId(execution) })

export const succeeded = (n: number, exitCode: number | null = null, message = n) =>
  ExecutionCompleted.of({
    executionId: executionId(n),
    messageId: messageId(message),
    exitCode,
    terminal: null,
  })

export const broke = (n: number, message = n) =>
  ExecutionFailed.of(
    {
      executionId: executionId(n),
      messageId: messageId(message),
      code: 'agent_silent',
      exitCode: null,
      terminal: null,
      retryAt: null,
    },
    { reason: 'The agent said nothing for 15 minutes.' },
  )

export const stopped = (n: number, message = n) =>
  ExecutionCancelled.of({ executionId: executionId(n), messageId: messageId(message), terminal: null })

export const cancelAsked = (n: number) => CancellationRequested.of({ executionId: executionId(n) })

export const prepared = WorkspacePrepared.of(
  { executionId: executionId(1) },
  {
    workingBranch: 'flightdeck/add-a-greeting-1',
    baseBranch: 'main',
    baseCommit: 'b'.repeat(40),
  },
)

export const agentStarted = (n: number, agent: AgentName = 'claude') =>
  AgentStarted.of({
    executionId: executionId(n),
    agent,
    version: '2.1.0',
    sessionId: 'session-1',
    resumed: false,
  })

export const toolStarted = (n: number, toolId: string) =>
  ToolStarted.of(
    { executionId: executionId(n), toolId, kind: 'run', parentToolId: null },
    { name: 'Bash', target: 'npm test', input: '{"command":"npm test"}' },
  )

/** The hash of the tree that `changed` records. */
export const changedTree = 'd'.repeat(40)

export const changed = (files: number, tree: string | null = changedTree) =>
  WorkspaceChanged.of(
    {
      executionId: executionId(1),
      files,
      additions: files,
      deletions: 0,
      ahead: 0,
      behind: 0,
      truncated: false,
      blob: null,
    },
    { currentBranch: 'flightdeck/add-a-greeting-1', baseBranch: 'main', tree },
  )

export const queued: History = [created, waits(1, 'turn', 'claude', description), requested(1, 'start')]
export const running: History = [...queued, started(1), delivered(1)]
export const cancelling: History = [...running, cancelAsked(1)]
export const completed: History = [...running, succeeded(1)]
export const failed: History = [...running, broke(1)]
export const cancelled: History = [...running, stopped(1)]
export const deleted: History = [...completed, TaskDeleted.of({})]

/** A command, message 2, runs after the first turn. */
export const commandRunning = (before: History): History => [
  ...before,
  waits(2, 'command'),
  requested(2, 'follow_up', { kind: 'command' }),
  started(2),
  delivered(2),
]
