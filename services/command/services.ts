/** The services that the command routes use, and what these routes share: the check of the owner, and the execution of commands. */
import type { Task } from '#domain/api/tasks.schema.ts'
import { Fault, faults } from '#domain/kernel/errors.ts'
import type { Position } from '#domain/kernel/event.ts'
import { projectStream, taskStream, userStream } from '#domain/kernel/streams.ts'
import type { ProjectEvent } from '#domain/project/events.ts'
import { projectDecider, type ProjectCommand } from '#domain/project/project.ts'
import type { TaskCommand } from '#domain/task/commands.ts'
import type { TaskEvent } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { user } from '#domain/user/user.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Engines } from '#platform/compose.ts'
import { UnreadableEvent, type Head } from '#platform/eventlog/eventLog.ts'
import { orElse } from '#platform/async/orElse.ts'
import type { Admit, Executed } from '#platform/commands/execute.ts'
import type { SerializeByKey } from '#platform/async/queue.ts'
import { presentTask } from '#platform/reads/apiForms.ts'
import type { Person } from '#platform/http/guards.ts'
import { routeWith } from '#platform/http/route.ts'
import type { Agents } from '#platform/connectedRunners.ts'
import type { ModelPlaces } from './storeKey.ts'
import type { Admission } from '#platform/commands/admission.ts'

export interface CommandServices extends Pick<
  Engines,
  | 'commands'
  | 'log'
  | 'bus'
  | 'rpc'
  | 'documents'
  | 'projected'
  | 'idempotency'
  | 'blobs'
  | 'imageAddresses'
  | 'access'
  | 'projectSecrets'
  | 'mcpHeaders'
  | 'mcpSignIns'
  | 'modelKeys'
  | 'codeHost'
> {
  readonly admission: Admission
  readonly agents: Pick<Agents, 'whyNone' | 'canRunFor'>
  /** The address of each provider of models, and whether projects may use private addresses. */
  readonly models: ModelPlaces
  /** The address of this server for people; `null` when the operator has not set it. */
  readonly publicUrl: string | null
  /** Runs pieces of work of the same person one after the other, because they must not overlap. */
  readonly serialized: SerializeByKey
}

export const route = routeWith<CommandServices>()

/** How long a write waits for its projection before its answer says `stale`. */
const projectionTimeoutMs = 2_000

/** The fields that every write's answer has. Waits until the read models contain the event at `position`; sets `stale` if that takes too long. */
export async function written(
  position: Position | null,
  { projected }: CommandServices,
): Promise<{ position?: Position; stale?: true }> {
  if (position === null) return {}
  return (await projected.waitFor(position, projectionTimeoutMs)) ? { position } : { position, stale: true }
}

/**
 * Throws `not_found` unless the task in the path belongs to the person. Reads the log, not a read model, and each stream only once, because an owner
 * never changes. A deleted task is accepted, so that a repeated deletion gets the first answer. The decider refuses all other writes of a deleted
 * task.
 */
export async function ownTask(
  request: Person & { readonly params: { readonly taskId: string } },
  { commands }: CommandServices,
): Promise<object> {
  const stream = taskStream(request.params.taskId)
  const state = commands.known(task, stream) ?? (await commands.load(task, stream)).state
  if (state.kind === 'none' || state.ownerId !== request.user.id)
    throw new Fault('not_found', 'There is no such task.')
  return {}
}

/** Throws `not_found` unless the project in the path belongs to the person. Reads the log in the same way as `ownTask`. */
export async function ownProject(
  request: Person & { readonly params: { readonly projectId: string } },
  { commands }: CommandServices,
): Promise<object> {
  const stream = projectStream(request.params.projectId)
  const state = commands.known(projectDecider, stream) ?? (await commands.load(projectDecider, stream)).state
  if (state.kind === 'none' || state.ownerId !== request.user.id)
    throw new Fault('not_found', 'There is no such project.')
  return {}
}

/**
 * Throws `not_found` if the account or the project was deleted. Must be called just before something of theirs is created, since an erasure finds
 * only what exists.
 */
export async function requireNotDeleted(
  { commands }: Pick<CommandServices, 'commands'>,
  userId: string,
  projectId?: string,
): Promise<void> {
  // A damaged stream stops nothing but itself.
  const account = await commands.load(user, userStream(userId)).catch(orElse(UnreadableEvent, undefined))
  if (account?.state.kind === 'deleted') throw new Fault('not_found', 'This account was deleted.')
  if (projectId === undefined) return
  const { state } = await commands.load(projectDecider, projectStream(projectId))
  if (state.kind === 'deleted') throw new Fault('not_found', 'There is no such project.', 'projectId')
}

type Executing = Pick<CommandServices, 'commands' | 'admission' | 'documents' | 'imageAddresses'>
type Asker = Person & { readonly commandId: string }

/** Executes a command on a task. A refusal with status 409 contains the current task. */
export async function executeOnTask(
  services: Executing,
  taskId: string,
  { actor, user: { id: userId }, commandId }: Asker,
  command: TaskCommand,
) {
  const admit: Admit<TaskEvent> = async (events) => {
    for (const event of events)
      if (event.type === 'TaskCreated')
        await requireNotDeleted(services, event.data.ownerId, event.data.projectId)
    return events.some(({ type }) => type === 'ExecutionRequested')
      ? services.admission.admit(userId)
      : () => undefined
  }
  try {
    const cause = { actor, commandId }
    return await services.commands.execute(task, taskStream(taskId), command, cause, admit)
  } catch (thrown) {
    if (!(thrown instanceof Fault) || faults[thrown.code].status !== 409) throw thrown
    const { state, head } = await services.commands.load(task, taskStream(taskId))
    // A task with the same id may belong to somebody else, and must then not be shown.
    if (state.kind !== 'task' || state.ownerId !== userId) throw thrown
    throw new Fault(thrown.code, thrown.message, thrown.field, {
      current: { task: await taskAfter(services, taskId, head) },
    })
  }
}

export function executeOnProject(
  services: Pick<CommandServices, 'commands'>,
  projectId: string,
  { actor, commandId }: Asker,
  command: ProjectCommand,
) {
  const admit: Admit<ProjectEvent> = async (events) => {
    for (const event of events)
      if (event.type === 'ProjectCreated') await requireNotDeleted(services, event.data.ownerId)
    return () => undefined
  }
  const cause = { actor, commandId }
  return services.commands.execute(projectDecider, projectStream(projectId), command, cause, admit)
}

/** The task after the write, as the API shows it. */
export async function taskAfter(services: Executing, taskId: string, head: Head): Promise<Task> {
  const document = await services.documents.asOf(tasksView, taskStream(taskId), taskId, head)
  if (!document) throw new Fault('not_found', 'There is no such task.')
  return presentTask(services, document)
}

/** Executes a command on a task and answers with the changed task. */
export async function changeTask(
  services: CommandServices,
  taskId: string,
  asker: Asker,
  command: TaskCommand,
) {
  return answerTask(services, taskId, await executeOnTask(services, taskId, asker, command))
}

/** The answer of writes on a task: the task as it is now, and the position of the write in the log. */
export async function answerTask(services: CommandServices, taskId: string, executed: Executed<unknown>) {
  const placed = await written(executed.position, services)
  return { task: await taskAfter(services, taskId, executed.head), ...placed }
}
