/** Writes on a task's chat. */
import { v5 as uuidv5 } from 'uuid'
import { isCommand, sendMessage, textOfCommand, withdrawMessage } from '#domain/api/chat.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/ids.ts'
import { chatMessageOf, chatView, messageDocumentId } from '#domain/views/chat.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { executeOnTask, ownTask, route, taskAfter, written, type CommandServices } from '../services.ts'

export const chatRoutes: readonly Route<CommandServices>[] = [
  route(sendMessage, signedIn, ownTask, async ({ params, body, ...asked }, services) => {
    const { taskId } = params
    const isNote = body.messageType === 'system'
    const messageId = (isNote ? undefined : body.id) ?? uuidv5('message', asked.commandId)
    const command = isCommand(body)
    const text = command ? textOfCommand(body) : (body.message ?? '').trim()
    const executed = await executeOnTask(
      services,
      taskId,
      asked,
      isNote
        ? { type: 'PostNote', messageId, message: text }
        : {
            type: 'SendMessage',
            messageId,
            kind: command ? 'command' : 'turn',
            agent: body.agent ?? null,
            message: text,
            executionId: uuidv5('execution', asked.commandId),
          },
    )
    const placed = await written(executed.position, services)
    const documentId = messageDocumentId(taskId, messageId)
    const message = await services.documents.asOf(chatView, taskStream(taskId), documentId, executed.head)
    if (!message) throw new Fault('not_found')
    const task = await taskAfter(services, taskId, executed.head)
    return { success: true as const, chatMessage: chatMessageOf(message, task), ...placed }
  }),
  route(withdrawMessage, signedIn, ownTask, async ({ params, ...asked }, services) => {
    const { messageId } = params
    const { position } = await executeOnTask(services, params.taskId, asked, {
      type: 'WithdrawMessage',
      messageId,
    })
    return { success: true as const, ...(await written(position, services)) }
  }),
]
