/** Creating a task from a turn of another task, and undoing turns. */
import { z } from 'zod'
import { ExecutionId, TaskId } from '../kernel/ids.schema.ts'
import { AgentName } from '../task/events.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { modelName, Text } from './fields.schema.ts'
import { forkRoutes } from './fork.ts'
import { limits } from './limits.ts'
import { Task } from './tasks.schema.ts'

const params = z.object({ taskId: TaskId })

export const forkTask = defineWrite(forkRoutes.forkTask, {
  summary:
    'Creates a task from a turn of this one: with the files and the conversation as they were at its end, on a branch of its own. This task stays as it is.',
  params,
  body: z.object({
    id: TaskId.optional(),
    /** The turn or command at whose end the new task starts. */
    executionId: ExecutionId,
    /** The first message; without it, the new task waits for a message. */
    message: Text.max(limits.descriptionLength).optional(),
    /** Defaults to this task's title. */
    title: Text.max(limits.descriptionLength).optional(),
    /** Defaults to the agent whose session was saved with the turn, or else the task's agent. Any other agent gets the conversation as text. */
    agent: AgentName.optional(),
    codexModel: modelName.nullable().optional(),
  }),
  status: 201,
  answer: { task: Task },
  faults: ['not_found', 'already_exists', 'agent_unavailable', 'no_snapshot'],
})

export const undoTurn = defineWrite(forkRoutes.undoTurn, {
  summary:
    'Goes back to what the task was before a turn: its files, and what its agent remembers. The turn and all later ones stay in the history. An undo can be undone.',
  params,
  body: z.object({
    /** The id of a turn, a command or an earlier undo. */
    executionId: ExecutionId,
  }),
  answer: {
    task: Task,
    /** The id of the undo. With this id, the undo itself can be undone. */
    undoId: z.string(),
    /** Whether the files are already restored. If not, they are restored before the next message runs. */
    restored: z.boolean(),
  },
  faults: ['not_found', 'task_running', 'no_snapshot', 'already_undone'],
})

export const previewUndo = defineRead(forkRoutes.previewUndo, {
  summary: 'Which files an undo would change. Files that git ignores are never changed.',
  params,
  query: { executionId: ExecutionId },
  answer: {
    /** The first 1,000 changed files. */
    files: z.array(z.object({ path: z.string(), change: z.enum(['added', 'modified', 'deleted']) })),
    /** The number of all changed files. */
    total: z.number(),
    /** The first 1,000 files of the snapshot that would keep their current content because git ignores them now. */
    kept: z.array(z.string()),
    /** The ids of turns and commands that would no longer count. */
    undone: z.array(z.string()),
    /** The ids of turns and commands that were undone and would count again. */
    redone: z.array(z.string()),
    /** False when no runner could compare the files in time, so that `files`, `total` and `kept` are empty. */
    compared: z.boolean(),
  },
  faults: ['not_found', 'task_running', 'no_snapshot', 'already_undone'],
})
