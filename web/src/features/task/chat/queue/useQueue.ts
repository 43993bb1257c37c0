/** What a person does to the messages that wait: it shows at once, and is taken back where the server refuses it. */
import { useRef } from 'react'
import { useDispatch } from 'react-redux'
import type { Position } from '#domain/kernel/event.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { newId } from '../../../../api/newId.ts'
import { notifiedFailure } from '../../../notifications/notifications.ts'
import { messageTaken, queueChangeDropped, queueChanged, queueChangeTaken } from '../../taskSlice.ts'
import { useSendMessageMutation, useSteerMessageMutation, useWithdrawMessageMutation } from '../../taskApi.ts'
import { texts as taskTexts } from '../../texts.ts'
import { useEditMessageMutation, useReorderQueueMutation } from '../queueApi.ts'
import { texts } from '../texts.ts'
import type { QueueChange } from './queueChanges.ts'

export interface QueueActions {
  readonly edit: (messageId: string, text: string) => void
  readonly steer: (messageId: string) => void
  readonly reorder: (messageIds: readonly string[]) => void
  /** Takes it back on the server. */
  readonly withdraw: (messageId: string) => void
  /** Hides it; the answer shows it again. */
  readonly hide: (messageId: string) => () => void
  /** Runs what must come after all that was done so far. */
  readonly afterwards: (run: () => void) => void
  /** Sends a message that was withdrawn once more, to the place it had. */
  readonly restore: (message: MessageDocument, orderWith: (id: string) => readonly string[]) => void
}

interface Answer {
  readonly data?: { readonly position?: Position | undefined } | undefined
  readonly error?: unknown
}

export function useQueue(taskId: string): QueueActions {
  const dispatch = useDispatch()
  const [editMessage] = useEditMessageMutation()
  const [reorderQueue] = useReorderQueueMutation()
  const [sendMessage] = useSendMessageMutation()
  const [steerMessage] = useSteerMessageMutation()
  const [withdrawMessage] = useWithdrawMessageMutation()
  // One after the other: an order that overtakes a withdrawal would name a message too many.
  const before = useRef<Promise<unknown>>(Promise.resolve())
  const latestOrder = useRef('')

  const inTurn = (run: () => Promise<void> | void) => {
    const earlier = before.current
    const afterIt = async () => {
      await earlier
      await run()
    }
    before.current = afterIt()
  }
  const change = (
    made: QueueChange,
    call: () => Promise<Answer>,
    failed: string,
    wanted: (id: string) => boolean = () => true,
  ): string => {
    const id = newId()
    dispatch(queueChanged({ id, change: made }))
    inTurn(async () => {
      if (!wanted(id)) return void dispatch(queueChangeDropped(id))
      const answer = await call()
      if (answer.error === undefined) {
        return void dispatch(queueChangeTaken({ id, position: answer.data?.position }))
      }
      dispatch(queueChangeDropped(id))
      dispatch(notifiedFailure(failed, answer.error))
    })
    return id
  }
  const reorder = (messageIds: readonly string[]) => {
    // Of several that were asked for meanwhile only the last is sent.
    latestOrder.current = change(
      { kind: 'reordered', messageIds },
      () => reorderQueue({ taskId, messageIds }),
      texts.queue.notMoved,
      (id) => id === latestOrder.current,
    )
  }

  return {
    edit: (messageId, text) =>
      void change(
        { kind: 'edited', messageId, text },
        () => editMessage({ taskId, messageId, message: text }),
        texts.queue.notEdited,
      ),
    steer: (messageId) =>
      void change(
        { kind: 'steered', messageId },
        () => steerMessage({ taskId, messageId }),
        taskTexts.toasts.notSteered,
      ),
    reorder,
    withdraw: (messageId) =>
      void change(
        { kind: 'withdrawn', messageId },
        () => withdrawMessage({ taskId, messageId }),
        taskTexts.toasts.notWithdrawn,
      ),
    hide: (messageId) => {
      const id = newId()
      dispatch(queueChanged({ id, change: { kind: 'withdrawn', messageId } }))
      return () => void dispatch(queueChangeDropped(id))
    },
    afterwards: inTurn,
    restore: (message, orderWith) => {
      inTurn(async () => {
        const id = newId()
        const text = message.message ?? ''
        const { isCommand, agent } = message
        const messageType = isCommand ? 'command' : 'user'
        const answer = await sendMessage({
          taskId,
          body: { id, message: text, messageType, isCommand, commandText: isCommand ? text : null, agent },
        })
        if (answer.error !== undefined) {
          return void dispatch(notifiedFailure(taskTexts.toasts.notSent, answer.error))
        }
        dispatch(messageTaken(answer.data.chatMessage))
        const order = orderWith(id)
        if (order.length > 1) reorder(order)
      })
    },
  }
}
