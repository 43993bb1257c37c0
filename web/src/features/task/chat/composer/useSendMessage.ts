/** Sends a message: it appears in the chat at once, and is confirmed or refused there. */
import { useDispatch } from 'react-redux'
import type { ShownImage } from '#domain/api/images.schema.ts'
import { useAppStore } from '../../../../state/hooks.ts'
import { reasonOf } from '../../../../api/fault.ts'
import { newId } from '../../../../api/newId.ts'
import type { AgentName } from '#domain/agents.ts'
import { notified, notifiedFailure } from '../../../notifications/notifications.ts'
import {
  messageDiscarded,
  messageRefused,
  messageSent,
  messageTaken,
  selectOpenTask,
  type SentMessage,
} from '../../taskSlice.ts'
import { useSendMessageMutation } from '../../taskApi.ts'
import { texts as taskTexts } from '../../texts.ts'
import { sendInOrder } from './sendQueue.ts'

interface SendMessage {
  readonly send: (
    text: string,
    isCommand: boolean,
    agent: AgentName,
    images?: readonly ShownImage[],
    withSecrets?: boolean,
  ) => void
  /** Sends a refused message again, under the same id. */
  readonly again: (id: string) => void
  readonly discard: (id: string) => void
}

export function useSendMessage(taskId: string, reload: () => void): SendMessage {
  const dispatch = useDispatch()
  const store = useAppStore()
  const [sendMessage] = useSendMessageMutation()

  const deliver = async (message: SentMessage) => {
    // The task may have been deleted meanwhile.
    if (selectOpenTask(store.getState()).task?.id !== taskId)
      return void dispatch(notified('error', taskTexts.toasts.noTask))
    dispatch(messageSent({ ...message, refused: null }))
    const { id, text, isCommand, agent, images = [], withSecrets = false } = message
    const body = {
      id,
      message: text,
      messageType: isCommand ? 'command' : 'user',
      isCommand,
      commandText: isCommand ? text : null,
      images: images.map((image) => image.id),
      ...(withSecrets ? { withSecrets } : {}),
      agent,
    } as const
    const answer = await sendInOrder(store, id, () => sendMessage({ taskId, body }))
    if (answer === null) return
    if (answer.error !== undefined) {
      const title = isCommand ? taskTexts.toasts.commandNotSent : taskTexts.toasts.notSent
      dispatch(messageRefused({ id, reason: reasonOf(answer.error, title) }))
      dispatch(notifiedFailure(title, answer.error))
      return
    }
    if (!isChatAnswer(answer.data)) return reload()
    dispatch(messageTaken(answer.data.chatMessage))
    if (isCommand) dispatch(notified('success', taskTexts.toasts.commandStarted))
  }

  return {
    send: (text, isCommand, agent, images = [], withSecrets = false) =>
      void deliver({
        id: newId(),
        taskId,
        text,
        isCommand,
        agent,
        images,
        withSecrets,
        sentAt: new Date().toISOString(),
        refused: null,
      }),
    again: (id) => {
      const message = selectOpenTask(store.getState()).sent.find((sent) => sent.id === id)
      if (message !== undefined) void deliver(message)
    },
    discard: (id) => void dispatch(messageDiscarded(id)),
  }
}

/** Any other answer does not confirm the message: the history is read again. */
function isChatAnswer(
  answer: { readonly success?: unknown; readonly chatMessage?: unknown } | null,
): boolean {
  return answer !== null && answer.success === true && typeof answer.chatMessage === 'object'
}
