/** Alternatives to a task: the same one with another agent, model or message, from the same commit. */
import { v5 as uuidv5 } from 'uuid'
import { addAlternative } from '#domain/api/comparison.schema.ts'
import { mostCompared } from '#domain/api/comparison.ts'
import { titleOf } from '#domain/api/tasks.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import type { NamedImage } from '#domain/task/commands.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { requireStartable } from '../preconditions.ts'
import { answerTask, executeOnTask, ownTask, route, type CommandServices } from '../services.ts'

export const comparisonRoutes: readonly Route<CommandServices>[] = [
  route(addAlternative, signedIn, ownTask, async ({ params, body, ...asked }, services) => {
    const { user, commandId } = asked
    const taskId = body.id ?? uuidv5('task', commandId)
    const original = await originalOf(services, params.taskId)
    const document = await services.documents.get(tasksView, original.taskId)
    if (!document) throw new Fault('not_found', 'There is no such task.')
    const { branch, images } = document
    const { projectId, title } = original
    await requireStartable({ taskId, ownerId: user.id, projectId, branch, agent: body.agent }, services)
    const description = body.message?.trim() ?? original.description
    const isKnown = await services.commands.hasTakenEffect(task, taskStream(taskId), commandId)
    if (!isKnown && (await livingOf(services, original)) >= mostCompared) throw new Fault('comparison_full')
    const executed = await executeOnTask(services, taskId, asked, {
      type: 'CreateTask',
      taskId,
      ownerId: user.id,
      projectId,
      agent: body.agent,
      codexModel: body.codexModel ?? null,
      title: titleOf(title || description),
      description,
      branch,
      messageId: uuidv5('message', commandId),
      executionId: uuidv5('execution', commandId),
      // A repeat of a command that took effect needs no copies.
      images: isKnown ? [] : await copies(services, images, original.taskId, taskId),
      comparedTo: { taskId: original.taskId, title, baseCommit: original.baseCommit },
    })
    await executeOnTask(services, original.taskId, asked, { type: 'AddAlternative', taskId, title })
    return answerTask(services, taskId, executed)
  }),
]

/** How many tasks of a comparison were not deleted. */
async function livingOf({ documents }: CommandServices, { taskId, alternatives }: LiveTask): Promise<number> {
  return (await documents.getMany(tasksView, [taskId, ...alternatives])).size
}

/** What a task, which may be an alternative itself, is compared with. An original that was deleted leaves its alternatives on their own. */
async function originalOf({ commands }: CommandServices, taskId: string): Promise<LiveTask> {
  const { state: asked } = await commands.load(task, taskStream(taskId))
  if (asked.kind !== 'task') throw new Fault('not_found', 'There is no such task.')
  if (asked.original === null) return asked
  const { state } = await commands.load(task, taskStream(asked.original))
  return state.kind === 'task' ? state : asked
}

/** Copies images of one task under the key of another. What nothing names in the end is swept. */
async function copies(
  { blobs }: CommandServices,
  images: readonly NamedImage[],
  from: string,
  to: string,
): Promise<readonly NamedImage[]> {
  const copied: NamedImage[] = []
  for (const image of images) {
    const bytes = await blobs.get(scopeOfStream(taskStream(from)), image.blob)
    if (!bytes) throw new Fault('not_found', 'An image of this task is gone.')
    copied.push({ ...image, blob: await blobs.put(scopeOfStream(taskStream(to)), bytes) })
  }
  return copied
}
