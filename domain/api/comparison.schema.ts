/** Running the same task with other agents, models or messages, from the same commit. */
import { z } from 'zod'
import { TaskId } from '../kernel/ids.schema.ts'
import { AgentName } from '../task/events.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { comparisonRoutes } from './comparison.ts'
import { effortName, modelName, Text } from './fields.schema.ts'
import { limits } from './limits.ts'
import { Task } from './tasks.schema.ts'

const params = z.object({ taskId: TaskId })

export const addAlternative = defineWrite(comparisonRoutes.addAlternative, {
  summary:
    'Creates and starts an alternative: the same task, from the commit that this one began from, on a branch of its own. A comparison holds up to 4 tasks.',
  params,
  body: z.object({
    id: TaskId.optional(),
    agent: AgentName,
    codexModel: modelName.nullable().optional(),
    effort: effortName.nullable().optional(),
    /** Defaults to this task's first message. */
    message: Text.min(1).max(limits.descriptionLength).optional(),
  }),
  status: 201,
  answer: { task: Task },
  faults: ['not_found', 'already_exists', 'agent_unavailable', 'comparison_full'],
})

const TestRuns = z.object({
  runs: z.number(),
  /** Whether the last finished test run passed; `null` when none has finished. */
  lastPassed: z.boolean().nullable(),
})

const Compared = z.object({
  task: Task,
  /** The full hash of the commit that the task started from; `null` until it is known, and in an empty repository. */
  baseCommit: z.string().nullable(),
  /** The total milliseconds of the task's turns and commands up to now, each from the start of its last attempt. */
  runningMs: z.number(),
  tests: TestRuns,
})
export type Compared = z.infer<typeof Compared>

export const getComparison = defineRead(comparisonRoutes.getComparison, {
  summary: 'The original and its alternatives that were not deleted, in the order of their creation.',
  params,
  answer: { compared: z.array(Compared) },
  faults: ['not_found'],
})
