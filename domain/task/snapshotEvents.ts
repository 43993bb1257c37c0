/** Events about snapshots: taken at the end of a turn, used for a new task, and restored by an undo. */
import { z } from 'zod'
import { agentNames } from '../agents.ts'
import { event, fact } from '../kernel/event.schema.ts'
import { BlobRef, ExecutionId, ObjectName, TaskId } from '../kernel/ids.schema.ts'

const AgentName = z.enum(agentNames)

/**
 * The files and the agent's session at the end of a turn or command were saved, without files that git ignores. Unchanged files have the same commit
 * as in the last snapshot, and its bundle is used again.
 */
export const WorkspaceSnapshotTaken = event('WorkspaceSnapshotTaken', 1, {
  data: z.object({
    executionId: ExecutionId,
    /** The git bundle with the files; `null` when the files could not be saved. */
    bundle: BlobRef.nullable(),
    session: z.object({ agent: AgentName, blob: BlobRef }).nullable(),
    /** How many paths were left out, because they are too large, are nested repositories or submodules, or have a name that git refuses. */
    leftOut: z.int().nonnegative(),
  }),
  content: z.object({
    /** The commit with all of the files. Equal files have the same commit. */
    work: ObjectName.nullable(),
    /** The first of the paths that were left out; `leftOut` counts all of them. */
    leftOutPaths: z.array(z.string()),
    /** Why the files could not be saved; `null` when they were saved. */
    missing: z.string().nullable(),
  }),
})

/** The task was created with the files and the conversation that another task had at the end of a turn or command. */
export const TaskCreatedFromTurn = event('TaskCreatedFromTurn', 1, {
  data: z.object({
    taskId: TaskId,
    executionId: ExecutionId,
    bundle: BlobRef,
    session: z.object({ agent: AgentName, sessionId: z.string().max(200), blob: BlobRef }).nullable(),
  }),
  content: z.object({
    /** The title of the other task when this task was created. */
    title: z.string(),
    work: ObjectName,
    /** The conversation as text, for an agent that cannot resume the session. */
    transcript: z.string(),
  }),
})

/** Another task was created from a turn of this task. */
export const TaskForked = event('TaskForked', 1, {
  data: z.object({ taskId: TaskId, executionId: ExecutionId }),
  content: z.object({ title: z.string() }),
})

/**
 * The task goes back to the state before `executionId`, which is a turn, a command or an earlier undo. If the task has a workspace,
 * `WorkspaceRestored` follows once its files are restored.
 */
export const TurnsUndone = fact('TurnsUndone', {
  undoId: ExecutionId,
  executionId: ExecutionId,
  /** The turns and commands that no longer count. */
  undone: z.array(ExecutionId),
  /** The turns and commands that were undone earlier and count again. */
  redone: z.array(ExecutionId),
})

/** The files were restored from a snapshot, so that they match the state of the task. */
export const WorkspaceRestored = event('WorkspaceRestored', 1, {
  /**
   * `executionId` is the undo, or the turn or command from which the task was created. `kept` counts files of the snapshot that were not restored,
   * because git now ignores them or something else is at their path.
   */
  data: z.object({ executionId: ExecutionId, kept: z.int().nonnegative() }),
  content: z.object({ keptPaths: z.array(z.string()) }),
})
