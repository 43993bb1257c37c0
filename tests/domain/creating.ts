/** The command that creates a task, for tests. */
import type { NamedImage, TaskCommand } from '#domain/task/commands.ts'
import { executionId, imageId, messageId, projectId, taskId, userId } from './ids.ts'
import { moment } from './recorded.ts'

/** Creates the nth task, for the first person in the first project, with the nth execution. */
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
    images: [],
  }
}

/** The nth image that is attached to a message. */
export function sampleImage(n = 1): NamedImage {
  return {
    imageId: imageId(n),
    mediaType: 'image/png',
    width: 60,
    height: 40,
    blob: { hash: n.toString(16).padStart(64, 'a'), size: 1_000 + n },
    uploadedAt: moment,
    name: `words ${n}.png`,
  }
}
