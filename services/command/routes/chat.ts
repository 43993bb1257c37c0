/** The routes that change a task's chat and its queue of messages. */
import { v5 as uuidv5 } from 'uuid'
import {
  editMessage,
  isCommand,
  reorderQueue,
  sendMessage,
  steerMessage,
  textOfCommand,
  withdrawMessage,
  type ChatMessage,
} from '#domain/api/chat.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { chatMessageOf, chatView, messageDocumentId } from '#domain/views/chat.ts'
import type { Head } from '#platform/eventlog/eventLog.ts'
import type { Executed } from '#platform/commands/execute.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { CallRequest, Route } from '#platform/http/route.ts'
import { withImages } from '../attachImages.ts'
import { isOwnCommandInTask } from '../checks/ownCommands.ts'
import { requireAgentOfMessage } from '../checks/preconditions.ts'
import { executeOnTask, ownTask, route, taskAfter, written, type CommandServices } from '../services.ts'

export const chatRoutes: readonly Route<CommandServices>[] = [
  route(sendMessage, signedIn, ownTask, withAgent, async ({ params, body, ...request }, services) => {
    const { taskId } = params
    const isNote = body.messageType === 'system'
    const messageId = (isNote ? undefined : body.id) ?? uuidv5('message', request.commandId)
    const command = isCommand(body)
    const text = command ? textOfCommand(body) : (body.message ?? '').trim()
    const attaching = { taskId, messageId, imageIds: body.images ?? [], request }
    const { agent = null } = body
    const isOwn = !command && (await isOwnCommandInTask(services, taskId, { agent, message: text }))
    const executed = await withImages(services, attaching, (images) =>
      executeOnTask(
        services,
        taskId,
        request,
        isNote
          ? { type: 'PostNote', messageId, message: text }
          : {
              type: 'SendMessage',
              messageId,
              kind: command ? 'command' : 'turn',
              agent,
              message: text,
              images,
              executionId: uuidv5('execution', request.commandId),
              steers: body.steer === true,
              withSecrets: body.withSecrets === true,
              ...(isOwn && { isOwnCommand: true }),
            },
      ),
    )
    return answerMessage(services, taskId, messageId, executed)
  }),
  route(editMessage, signedIn, ownTask, async ({ params, body, ...request }, services) => {
    const { taskId, messageId } = params
    const { message } = body
    const isOwn = await isOwnCommandInTask(services, taskId, { agent: null, message })
    const executed = await executeOnTask(services, taskId, request, {
      type: 'EditMessage',
      messageId,
      message,
      ...(isOwn && { isOwnCommand: true }),
    })
    return answerMessage(services, taskId, messageId, executed)
  }),
  route(steerMessage, signedIn, ownTask, async ({ params, ...request }, services) => {
    const { taskId, messageId } = params
    const executed = await executeOnTask(services, taskId, request, { type: 'SteerMessage', messageId })
    return answerMessage(services, taskId, messageId, executed)
  }),
  route(reorderQueue, signedIn, ownTask, async ({ params, body, ...request }, services) => {
    const { taskId } = params
    const { messageIds } = body
    const executed = await executeOnTask(services, taskId, request, { type: 'ReorderQueue', messageIds })
    const placed = await written(executed.position, services)
    const queue = executed.state.kind === 'task' ? executed.state.queue : []
    const messages = queue.map(({ messageId }) => messageAfter(services, taskId, messageId, executed.head))
    return { success: true as const, messages: await Promise.all(messages), ...placed }
  }),
  route(withdrawMessage, signedIn, ownTask, async ({ params, ...request }, services) => {
    const { messageId } = params
    const { position } = await executeOnTask(services, params.taskId, request, {
      type: 'WithdrawMessage',
      messageId,
    })
    return { success: true as const, ...(await written(position, services)) }
  }),
]

/** Throws when no runner can run the agent of the message. Commands and notes need no agent. */
async function withAgent(
  { params, body, commandId }: Pick<CallRequest<typeof sendMessage>, 'params' | 'body' | 'commandId'>,
  services: CommandServices,
): Promise<object> {
  const isForAgent = !isCommand(body) && body.messageType !== 'system'
  const { id: messageId, agent = null } = body
  if (isForAgent)
    await requireAgentOfMessage({ taskId: params.taskId, commandId, messageId, agent }, services)
  return {}
}

async function answerMessage(
  services: CommandServices,
  taskId: string,
  messageId: string,
  { position, head }: Executed<unknown>,
) {
  const placed = await written(position, services)
  const chatMessage = await messageAfter(services, taskId, messageId, head)
  return { success: true as const, chatMessage, ...placed }
}

/** The message after the write, as the API shows it. */
async function messageAfter(
  services: CommandServices,
  taskId: string,
  messageId: string,
  head: Head,
): Promise<ChatMessage> {
  const id = messageDocumentId(taskId, messageId)
  const message = await services.documents.asOf(chatView, taskStream(taskId), id, head)
  if (!message) throw new Fault('not_found', 'There is no such message in this task.')
  const { addressOf } = services.imageAddresses
  return chatMessageOf(message, await taskAfter(services, taskId, head), addressOf)
}
