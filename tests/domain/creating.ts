/** The command that makes a task, as tests give it. */
import type { TaskCommand } from '#domain/task/commands.ts'
import { executionId, messageId, projectId, taskId, userId } from './ids.ts'

/** Makes the nth task, for the first person in the first project, with its nth execution. */
export function creating(n = 1): Extract<TaskCommand, { type: 'CreateTask' }> {
  return {
    type: 'CreateTask',
    taskId: taskId(n),
    ownerId: userId(1),
    projectId: projectId(1),
    agent: 'claude',
    codexModel: null,
    title: 'A title',
    description: 'Words',
    branch: 'main',
    messageId: messageId(n),
    executionId: executionId(n),
  }
}
