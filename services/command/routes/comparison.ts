/** The route that creates an alternative to a task: the same task with another agent, model or message, from the same commit. */
import { randomUUID } from 'node:crypto'
import { v5 as uuidv5 } from 'uuid'
import { addAlternative } from '#domain/api/comparison.schema.ts'
import { titleOf } from '#domain/api/tasks.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import type { NamedImage, TaskCommand } from '#domain/task/commands.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { requireStartable } from '../checks/preconditions.ts'
import { answerTask, executeOnTask, ownTask, route, type CommandServices } from '../services.ts'

export const comparisonRoutes: readonly Route<CommandServices>[] = [
  route(addAlternative, signedIn, ownTask, async ({ params, body, ...request }, services) => {
    const { user, commandId } = request
    const taskId = body.id ?? uuidv5('task', commandId)
    const original = await originalOf(services, params.taskId)
    const document = await services.documents.get(tasksView, original.taskId)
    if (!document) throw new Fault('not_found', 'There is no such task.')
    const { branch, images } = document
    const { projectId, title } = original
    await requireStartable({ taskId, ownerId: user.id, projectId, branch, agent: body.agent }, services)
    const description = body.message?.trim() ?? original.description
    const isKnown = await services.commands.hasTakenEffect(task, taskStream(taskId), commandId)
    const executed = await inItsPlace(services, { original, taskId, request, isKnown }, async () =>
      executeOnTask(services, taskId, request, {
        type: 'CreateTask',
        taskId,
        ownerId: user.id,
        projectId,
        agent: body.agent,
        codexModel: body.codexModel ?? null,
        effort: body.effort ?? null,
        title: titleOf(title || description),
        description,
        branch,
        messageId: uuidv5('message', commandId),
        executionId: uuidv5('execution', commandId),
        // If the command already took effect, no copies of images are needed.
        images: isKnown ? [] : await copies(services, images, original.taskId, taskId),
        mode: original.questions.mode,
        comparedTo: { taskId: original.taskId, title, baseCommit: original.baseCommit },
      }),
    )
    return answerTask(services, taskId, executed)
  }),
]

interface Place {
  readonly original: LiveTask
  readonly taskId: string
  readonly request: Parameters<typeof executeOnTask>[2]
  /** Whether an earlier request already created the alternative. */
  readonly isKnown: boolean
}

/**
 * Reserves a place in the original's comparison, and then calls `create`, so that a comparison never has too many tasks. If the alternative is not
 * created, the place is freed; after a crash, `relatedTasks.ts` frees it.
 */
async function inItsPlace<T>(
  services: CommandServices,
  { original, taskId, request, isKnown }: Place,
  create: () => Promise<T>,
): Promise<T> {
  if (isKnown) return create()
  const { title } = original
  // These commands get random ids, so that the state of the original alone decides whether they have an effect, even for a repeated request.
  const tell = (command: TaskCommand) =>
    executeOnTask(services, original.taskId, { ...request, commandId: randomUUID() }, command)
  const deleted = await deletedOf(services, original)
  const { events } = await tell({ type: 'AddAlternative', taskId, title, deleted })
  try {
    return await create()
  } catch (fault) {
    // If `events` is empty, another request had already reserved the place, so this request does not free it.
    if (events.length > 0) await tell({ type: 'RemoveAlternative', taskId }).catch(() => undefined)
    throw fault
  }
}

async function deletedOf(
  { commands, documents }: CommandServices,
  { alternatives }: LiveTask,
): Promise<readonly string[]> {
  const there = await documents.getMany(tasksView, alternatives)
  const missing = alternatives.filter((id) => !there.has(id))
  const states = await Promise.all(missing.map((id) => commands.load(task, taskStream(id))))
  return missing.filter((_, index) => states[index]?.state.kind === 'deleted')
}

/** The original of the task's comparison: the task itself, unless it is an alternative whose original still exists. */
async function originalOf({ commands }: CommandServices, taskId: string): Promise<LiveTask> {
  const { state: request } = await commands.load(task, taskStream(taskId))
  if (request.kind !== 'task') throw new Fault('not_found', 'There is no such task.')
  if (request.original === null) return request
  const { state } = await commands.load(task, taskStream(request.original))
  return state.kind === 'task' ? state : request
}

/** Copies the images of the task `from`, encrypted with the key of the task `to`. Copies that no event names are removed later. */
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
