/** Actions on queued messages: a change is shown at once, and reverted if the server refuses it. */
import { useRef } from 'react'
import { useDispatch } from 'react-redux'
import type { Position } from '#domain/kernel/event.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { newId } from '../../../../api/newId.ts'
import { notifiedFailure } from '../../../notifications/notifications.ts'
import { messageTaken, queueChangeDropped, queueChanged, queueChangeTaken } from '../../taskSlice.ts'
import {
  useEditMessageMutation,
  useReorderQueueMutation,
  useSendMessageMutation,
  useSteerMessageMutation,
  useWithdrawMessageMutation,
} from '../../taskApi.ts'
import { bodyOf } from '../composer/useSendMessage.ts'
import { texts as taskTexts } from '../../texts.ts'
import { texts } from '../texts.ts'
import type { QueueChange } from './queueChanges.ts'

export type QueueActions = ReturnType<typeof useQueue>

interface Answer {
  readonly data?: { readonly position?: Position | undefined } | undefined
  readonly error?: unknown
}

export function useQueue(taskId: string) {
  const dispatch = useDispatch()
  const [editMessage] = useEditMessageMutation()
  const [reorderQueue] = useReorderQueueMutation()
  const [steerMessage] = useSteerMessageMutation()
  const [withdrawMessage] = useWithdrawMessageMutation()
  const latestOrder = useRef('')
  const inTurn = useInTurn()
  const change = useChange(inTurn)
  const changeNow = useChange((run) => void run())
  const reorder = (messageIds: readonly string[]) => {
    // If several orders are pending, only the last one is sent.
    latestOrder.current = change(
      { kind: 'reordered', messageIds },
      () => reorderQueue({ taskId, messageIds }),
      texts.queue.notMoved,
      (id) => id === latestOrder.current,
    )
  }
  const withdrawWith = (changes: typeof change) => (messageId: string) =>
    void changes(
      { kind: 'withdrawn', messageId },
      () => withdrawMessage({ taskId, messageId }),
      taskTexts.toasts.notWithdrawn,
    )
  const restore = useRestore(taskId, inTurn, reorder)
  return {
    edit: (messageId: string, text: string) =>
      void change(
        { kind: 'edited', messageId, text },
        () => editMessage({ taskId, messageId, message: text }),
        texts.queue.notEdited,
      ),
    steer: (messageId: string) =>
      void change(
        { kind: 'steered', messageId },
        () => steerMessage({ taskId, messageId }),
        taskTexts.toasts.notSteered,
      ),
    reorder,
    withdraw: withdrawWith(change),
    /** Withdraws the message before earlier changes are answered, because a page that is closed waits for no answer. */
    withdrawNow: withdrawWith(changeNow),
    /** Hides the message on this page only; the returned function shows it again. */
    hide: (messageId: string) => {
      const id = newId()
      dispatch(queueChanged({ id, change: { kind: 'withdrawn', messageId } }))
      return () => void dispatch(queueChangeDropped(id))
    },
    afterwards: inTurn,
    restore,
  }
}

type InTurn = (run: () => Promise<void> | void) => void

/** Runs actions one after the other. A withdrawal must be sent before a new order, because an order has to name all waiting messages. */
function useInTurn(): InTurn {
  const before = useRef<Promise<unknown>>(Promise.resolve())
  return (run) => {
    const earlier = before.current
    const afterIt = async () => {
      await earlier
      await run()
    }
    before.current = afterIt()
  }
}

/**
 * Shows a change at once, and sends it after the earlier changes. Reverts it if `isDue` does not allow it then, or the server refuses it. Returns the
 * change's id.
 */
function useChange(inTurn: InTurn) {
  const dispatch = useDispatch()
  return (
    change: QueueChange,
    call: () => Promise<Answer>,
    failed: string,
    isDue: (id: string) => boolean = () => true,
  ): string => {
    const id = newId()
    dispatch(queueChanged({ id, change }))
    inTurn(async () => {
      if (!isDue(id)) return void dispatch(queueChangeDropped(id))
      const answer = await call()
      if (answer.error === undefined) {
        return void dispatch(queueChangeTaken({ id, position: answer.data?.position }))
      }
      dispatch(queueChangeDropped(id))
      dispatch(notifiedFailure(failed, answer.error))
    })
    return id
  }
}

/** Sends a withdrawn message again in its old place, without its images. */
function useRestore(taskId: string, inTurn: InTurn, reorder: (messageIds: readonly string[]) => void) {
  const dispatch = useDispatch()
  const [sendMessage] = useSendMessageMutation()
  return (message: MessageDocument, orderWith: (id: string) => readonly string[]) =>
    inTurn(async () => {
      const id = newId()
      const body = bodyOf({ ...message, id, text: message.message ?? '' })
      const answer = await sendMessage({ taskId, body })
      if (answer.error !== undefined) {
        return void dispatch(notifiedFailure(taskTexts.toasts.notSent, answer.error))
      }
      dispatch(messageTaken(answer.data.chatMessage))
      const order = orderWith(id)
      if (order.length > 1) reorder(order)
    })
}
