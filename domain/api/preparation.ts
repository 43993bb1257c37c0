/** Having things ready before a task is there. */
import { z } from 'zod'
import { defaultAgent } from '../agents.ts'
import { ProjectId, TaskId } from '../kernel/ids.schema.ts'
import { AgentName } from '../task/events.ts'
import { defineWrite } from './call.ts'
import { branchName, modelName, success } from './fields.ts'

export const prepareTask = defineWrite({
  method: 'POST',
  path: '/projects/:projectId/prepare',
  summary:
    'Prepares a workspace for a task that is created with the same id, branch and agent within a minute. It records nothing, is optional, and does nothing for an existing task.',
  params: z.object({ projectId: ProjectId }),
  body: z.object({
    /** The id that the task will be made with. */
    taskId: TaskId,
    branch: branchName('Please select a branch'),
    codexModel: modelName.nullable().optional(),
    agent: AgentName.default(defaultAgent),
  }),
  answer: success,
  faults: ['not_found'],
})
