/** The route that creates a task from a turn of another task. */
import { v5 as uuidv5 } from 'uuid'
import { forkTask } from '#domain/api/fork.schema.ts'
import { titleOf } from '#domain/api/tasks.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import { projectStream, scopeOfStream, taskStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import type { TurnOrigin } from '#domain/task/commands.ts'
import { snapshotOfTurn } from '#domain/task/fork.ts'
import { countingAt, type RestorePoints, type Snapshot } from '#domain/task/restorePoints.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task } from '#domain/task/task.ts'
import { joinTranscripts, transcriptOf } from '#domain/task/transcript.ts'
import { chatView, type MessageDocument } from '#domain/views/chat.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { pagesOf } from '#platform/reads/documentPages.ts'
import { signedIn, type Person } from '#platform/http/guards.ts'
import type { CallRequest, Route } from '#platform/http/route.ts'
import { requireStartable } from '../checks/preconditions.ts'
import { answerTask, executeOnTask, ownTask, route, type CommandServices } from '../services.ts'

export const forkRoutes: readonly Route<CommandServices>[] = [
  route(forkTask, signedIn, ownTask, async ({ params, body, ...request }, services) => {
    const taskId = body.id ?? uuidv5('task', request.commandId)
    const forked = await forkedFrom(services, { sourceId: params.taskId, taskId, body, request })
    const executed = await executeOnTask(services, taskId, request, forked.command)
    const { title } = forked.command
    await executeOnTask(services, params.taskId, request, {
      type: 'RecordFork',
      taskId,
      executionId: body.executionId,
      title,
    })
    return answerTask(services, taskId, executed)
  }),
]

type Fork = Pick<CallRequest<typeof forkTask>, 'body'> & {
  readonly sourceId: string
  readonly taskId: string
  readonly request: Person & { readonly commandId: string }
}

/** The command that creates the new task, with a copy of the snapshot, encrypted with the new task's key. */
async function forkedFrom(services: CommandServices, fork: Fork) {
  const { sourceId, taskId, body, request } = fork
  const { user, commandId } = request
  const { state: source } = await services.commands.load(task, taskStream(sourceId))
  if (source.kind !== 'task') throw new Fault('not_found', 'There is no such task.')
  const { state: its } = await services.commands.load(projectDecider, projectStream(source.projectId))
  if (its.kind !== 'project') throw new Fault('not_found', 'The project of this task was deleted.')
  const snapshot = snapshotOfTurn(source, body.executionId)
  if ('refused' in snapshot) throw new Fault(snapshot.refused, snapshot.sentence, 'executionId')
  const document = await services.documents.get(tasksView, sourceId)
  if (!document) throw new Fault('not_found', 'There is no such task.')
  const agent = body.agent ?? snapshot.session?.agent ?? source.agent
  const { branch } = document
  await requireStartable({ taskId, ownerId: user.id, projectId: source.projectId, branch, agent }, services)
  const description = (body.message ?? '').trim()
  const title = titleOf(body.title?.trim() || source.title || description)
  return {
    command: {
      type: 'CreateTask',
      taskId,
      ownerId: user.id,
      projectId: source.projectId,
      agent,
      ...modelFor(document, agent, body.codexModel),
      title,
      description,
      branch,
      messageId: uuidv5('message', commandId),
      executionId: uuidv5('execution', commandId),
      images: [],
      mode: source.questions.mode,
      from: await originOf(services, fork, source, snapshot),
    },
  } as const
}

/** The model and effort of the new task: the model `chosen`, without an effort, or else the choice of the source task if it was for this agent. */
function modelFor({ modelAgent, codexModel, effort }: TaskDocument, agent: string, chosen?: string | null) {
  if (chosen != null) return { codexModel: chosen }
  return modelAgent === agent ? { codexModel, effort: effort ?? null } : { codexModel: null }
}

/** The turn from which the new task starts, with copies of its snapshot. If the command already took effect, no copies are made. */
async function originOf(
  services: CommandServices,
  { taskId, body: { executionId }, request: { commandId } }: Fork,
  source: LiveTask,
  snapshot: Snapshot,
): Promise<TurnOrigin> {
  const { title } = source
  const from = { taskId: source.taskId, executionId, title }
  if (await services.commands.hasTakenEffect(task, taskStream(taskId), commandId))
    return { ...from, transcript: '', snapshot }
  const copy = copier(services, source.taskId, taskId)
  const { session } = snapshot
  return {
    ...from,
    transcript: await transcriptUpTo(services, source, executionId),
    snapshot: {
      ...snapshot,
      bundle: await copy(snapshot.bundle),
      session: session && { ...session, blob: await copy(session.blob) },
    },
  }
}

/** Makes a function that copies a blob of the task `from`, encrypted with the key of the task `to`. Copies that no event names are removed later. */
function copier({ blobs }: CommandServices, from: string, to: string) {
  return async (ref: BlobRef): Promise<BlobRef> => {
    const bytes = await blobs.get(scopeOfStream(taskStream(from)), ref)
    if (!bytes) throw new Fault('no_snapshot', 'The saved files of this turn are gone.', 'executionId')
    return blobs.put(scopeOfStream(taskStream(to)), bytes)
  }
}

const transcriptMessages = 100
const page = 200

/** The conversation up to the end of a turn as text. It has only the latest messages, and no messages of undone turns. */
async function transcriptUpTo(
  { documents }: CommandServices,
  source: LiveTask,
  executionId: string,
): Promise<string> {
  const counting = countingIn(source.restorePoints, executionId)
  const said: MessageDocument[] = []
  const newest = pagesOf(documents, chatView, {
    where: { task: source.taskId },
    limit: page,
    direction: 'descending',
  })
  for await (const found of newest) {
    said.push(...found.filter((message) => counting.has(message.executionId ?? '')))
    if (said.length >= transcriptMessages) break
  }
  return joinTranscripts(
    source.origin?.transcript ?? '',
    transcriptOf(said.slice(0, transcriptMessages).reverse()),
  )
}

/** The ids of the executions that counted at the end of the execution `executionId`, because they were not undone. */
function countingIn({ points }: RestorePoints, executionId: string): ReadonlySet<string> {
  const at = points.findLastIndex((point) => point.executionId === executionId)
  return new Set(countingAt(points, at).map((point) => point.executionId))
}
