/** Clean-up of a task whose pull request was merged or closed. */
import { z } from 'zod'
import { TaskId } from '../kernel/ids.schema.ts'
import { defineWrite } from './call.schema.ts'
import { cleanUpRoutes } from './cleanUp.ts'
import { Task } from './tasks.schema.ts'

export const cleanUpTask = defineWrite(cleanUpRoutes.cleanUpTask, {
  summary:
    'Removes the branch of a merged or closed pull request at the code host, in the name of the person, and the workspace of the task. `task.cleanUp` says what could not be removed.',
  params: z.object({ taskId: TaskId }),
  answer: { task: Task },
  faults: ['not_found', 'pull_request_open', 'task_running'],
})
