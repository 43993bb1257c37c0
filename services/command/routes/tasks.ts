/** The routes that prepare, create, change, run, stop and delete tasks. */
import { v5 as uuidv5 } from 'uuid'
import {
  cancelTask,
  createTask,
  deleteTask,
  executeTask,
  retryTask,
  updateTask,
} from '#domain/api/tasks.schema.ts'
import { titleOf } from '#domain/api/tasks.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import { signedIn, type Person } from '#platform/http/guards.ts'
import type { CallRequest, Route } from '#platform/http/route.ts'
import { withImages } from '../attachImages.ts'
import { isOwnCommand } from '../checks/ownCommands.ts'
import { requireAgentOfRetry, requireStartable } from '../checks/preconditions.ts'
import {
  answerTask,
  changeTask,
  executeOnTask,
  ownTask,
  route,
  written,
  type CommandServices,
  ownProject,
} from '../services.ts'
import { prepareTask } from '#domain/api/tasks.schema.ts'
import { task } from '#domain/task/task.ts'

export const taskRoutes: readonly Route<CommandServices>[] = [
  route(createTask, signedIn, inOwnProject, startable, async ({ body, ...request }, services) => {
    const { user, commandId } = request
    const taskId = taskIdOf(body, commandId)
    const messageId = uuidv5('message', commandId)
    const attaching = { taskId, messageId, imageIds: body.images ?? [], request }
    const { projectId, branch, agent, description } = body
    const place = { projectId, ownerId: user.id, taskId: null, branch, agent }
    const isOwn = await isOwnCommand(services, place, description)
    const executed = await withImages(services, attaching, (images) =>
      executeOnTask(services, taskId, request, {
        type: 'CreateTask',
        taskId,
        ownerId: user.id,
        projectId: body.projectId,
        agent: body.agent,
        codexModel: body.codexModel ?? null,
        effort: body.effort ?? null,
        title: titleOf(body.title?.trim() || body.description),
        description: body.description,
        branch: body.branch,
        messageId,
        executionId: uuidv5('execution', commandId),
        images,
        ...(body.mode === undefined ? {} : { mode: body.mode }),
        ...(isOwn && { isOwnCommand: true }),
      }),
    )
    return answerTask(services, taskId, executed)
  }),
  route(updateTask, signedIn, ownTask, async ({ params, body, ...request }, services) => {
    const { codexModel, effort } = body
    const isChosen = codexModel !== undefined || effort !== undefined
    return changeTask(services, params.taskId, request, {
      type: 'UpdateTask',
      ...(body.title === undefined ? {} : { title: body.title }),
      ...(body.description === undefined ? {} : { description: body.description }),
      ...(isChosen && {
        model: {
          agent: body.agent ?? null,
          ...(codexModel !== undefined && { name: codexModel }),
          ...(effort !== undefined && { effort }),
        },
      }),
      ...(body.mode === undefined ? {} : { mode: body.mode }),
    })
  }),
  route(deleteTask, signedIn, ownTask, async ({ params, ...request }, services) => {
    const { position } = await executeOnTask(services, params.taskId, request, { type: 'DeleteTask' })
    return { success: true as const, ...(await written(position, services)) }
  }),
  route(retryTask, signedIn, ownTask, withAgent, async ({ params, ...request }, services) => {
    const executionId = uuidv5('execution', request.commandId)
    return changeTask(services, params.taskId, request, { type: 'RetryTask', executionId })
  }),
  route(executeTask, signedIn, ownTask, async ({ params, body, ...request }, services) => {
    const executionId = uuidv5('execution', request.commandId)
    return changeTask(
      services,
      params.taskId,
      request,
      body?.command === undefined
        ? { type: 'RequestExecution', executionId }
        : {
            type: 'SendMessage',
            messageId: uuidv5('message', request.commandId),
            kind: 'command',
            agent: null,
            message: body.command,
            images: [],
            executionId,
            withSecrets: body.withSecrets === true,
            runsNow: true,
          },
    )
  }),
  route(cancelTask, signedIn, ownTask, async ({ params, ...request }, services) => {
    return changeTask(services, params.taskId, request, { type: 'CancelExecution' })
  }),
]

type CreateTaskRequest = Person & Pick<CallRequest<typeof createTask>, 'body' | 'commandId'>

const taskIdOf = ({ id }: CreateTaskRequest['body'], commandId: string) => id ?? uuidv5('task', commandId)

async function inOwnProject(
  { body, user }: CreateTaskRequest,
  { commands }: CommandServices,
): Promise<object> {
  const { state } = await commands.load(projectDecider, projectStream(body.projectId))
  if (state.kind !== 'project' || state.ownerId !== user.id) {
    throw new Fault('not_found', 'There is no such project.', 'projectId')
  }
  return {}
}

async function startable(
  { body, user, commandId }: CreateTaskRequest,
  services: CommandServices,
): Promise<object> {
  const { projectId, branch, agent } = body
  const newTask = { taskId: taskIdOf(body, commandId), ownerId: user.id, projectId, branch, agent }
  await requireStartable(newTask, services)
  return {}
}

async function withAgent(
  { params, commandId }: Pick<CallRequest<typeof retryTask>, 'params' | 'commandId'>,
  services: CommandServices,
): Promise<object> {
  await requireAgentOfRetry({ taskId: params.taskId, commandId }, services)
  return {}
}

/** How long to wait for the runner, which answers as soon as the preparation has begun. */
const beginTimeoutMs = 1_000

export const prepareRoutes: readonly Route<CommandServices>[] = [
  route(prepareTask, signedIn, ownProject, async ({ params, body, user }, services) => {
    const { taskId, branch, agent, codexModel = null } = body
    const { state } = await services.commands.load(task, taskStream(taskId))
    // A task that exists needs no preparation, even if it belongs to somebody else.
    if (state.kind !== 'none') return { success: true as const }
    const request = {
      taskId,
      ownerId: user.id,
      projectId: params.projectId,
      branch,
      agent,
      model: codexModel,
    }
    await services.rpc.call('prepare', request, beginTimeoutMs)
    return { success: true as const }
  }),
]
