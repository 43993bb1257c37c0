/** Having things ready before a task is there. */
import { z } from 'zod'
import { ProjectId, TaskId } from '../kernel/ids.ts'
import { AgentName } from '../task/events.ts'
import { defineWrite } from './call.ts'
import { branchName, modelName, success } from './fields.ts'

export const prepareTask = defineWrite({
  method: 'POST',
  path: '/projects/:projectId/prepare',
  summary:
    'Makes ready what a task will need that is made with the same id, branch and agent within a minute. Nothing is recorded, and the task may do without; for a task that is there nothing is done.',
  params: z.object({ projectId: ProjectId }),
  body: z.object({
    /** The id that the task will be made with. */
    taskId: TaskId,
    branch: branchName('Please select a branch'),
    codexModel: modelName.nullable().optional(),
    agent: AgentName.default('claude'),
  }),
  answer: success,
  faults: ['not_found'],
})
