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
  type OpenTask,
  selectOpenTask,
  type SentMessage,
} from '../../taskSlice.ts'
import { useSendMessageMutation } from '../../taskApi.ts'
import { texts as taskTexts } from '../../texts.ts'
import { heldWithdrawals } from '../queue/heldWithdrawals.ts'
import { sendInOrder } from './sendQueue.ts'

interface MessageText extends Pick<SentMessage, 'id' | 'text' | 'isCommand'> {
  readonly agent: AgentName | null
}

export function useSendMessage(taskId: string, reload: () => void) {
  const dispatch = useDispatch()
  const store = useAppStore()
  const [sendMessage] = useSendMessageMutation()

  const deliver = async (message: SentMessage) => {
    // The task may have been deleted meanwhile.
    if (selectOpenTask(store.getState()).task?.id !== taskId)
      return void dispatch(notified('error', taskTexts.toasts.noTask))
    dispatch(messageSent({ ...message, refused: null }))
    const { id, isCommand, images = [], withSecrets = false } = message
    const body = {
      ...bodyOf(message),
      images: images.map((image) => image.id),
      ...(withSecrets ? { withSecrets } : {}),
    }
    let begins: boolean | undefined
    const answer = await sendInOrder(store, id, async () => {
      await heldWithdrawals.send?.()
      begins ??= isIdle(selectOpenTask(store.getState()), taskId)
      return sendMessage({ taskId, body })
    })
    if (answer === null) return
    if (answer.error !== undefined) {
      const title = isCommand ? taskTexts.toasts.commandNotSent : taskTexts.toasts.notSent
      dispatch(messageRefused({ id, reason: reasonOf(answer.error, title) }))
      dispatch(notifiedFailure(title, answer.error))
      return
    }
    if (!isChatAnswer(answer.data)) return reload()
    dispatch(messageTaken(answer.data.chatMessage))
    if (isCommand && begins === true) dispatch(notified('success', taskTexts.toasts.commandStarted))
  }

  return {
    send: (
      text: string,
      isCommand: boolean,
      agent: AgentName,
      images: readonly ShownImage[] = [],
      withSecrets = false,
    ) =>
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
    /** Sends a refused message again, under the same id. */
    again: (id: string) => {
      const message = selectOpenTask(store.getState()).sent.find((sent) => sent.id === id)
      if (message !== undefined) void deliver(message)
    },
    discard: (id: string) => void dispatch(messageDiscarded(id)),
  }
}

/** Whether nothing runs or waits in the task, so that what is sent begins at once. */
const isIdle = ({ task, chat }: OpenTask, taskId: string): boolean =>
  task?.id === taskId &&
  task.status !== 'running' &&
  task.status !== 'queued' &&
  !Object.values(chat.documents).some(({ status }) => status === 'queued')

/** The body of the request that sends a message, without the message's images. */
export function bodyOf({ id, text, isCommand, agent }: MessageText) {
  const messageType = isCommand ? ('command' as const) : ('user' as const)
  return { id, message: text, messageType, isCommand, commandText: isCommand ? text : null, agent }
}

/** Whether the answer confirms the message; if it does not, the history is read again. */
function isChatAnswer(
  answer: { readonly success?: unknown; readonly chatMessage?: unknown } | null,
): boolean {
  return answer !== null && answer.success === true && typeof answer.chatMessage === 'object'
}
