/** The queued messages, above the composer. A person can reorder them, edit them in place, send them to the running turn, or withdraw them. */
import { ChevronDown, ChevronUp } from 'lucide-react'
import { Suspense, useEffect, useState, type PointerEvent, type RefObject } from 'react'
import { useSelector } from 'react-redux'
import { canDo } from '#domain/agents/capabilities.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { Button } from '../../../../ui/form/Button.tsx'
import { useFocusBack } from '../../../../ui/form/useFocusBack.ts'
import { useMedia, useWindowEvent } from '../../../../ui/hooks.ts'
import { optionalPart } from '../../../../ui/optionalPart.tsx'
import { selectOpenTask } from '../../taskSlice.ts'
import { useTaskActions } from '../../useTaskActions.ts'
import { heldWithdrawals } from './heldWithdrawals.ts'
import { QueuedMessage, type Step } from './QueuedMessage.tsx'
import { moved, withChanges, type WaitingMessage } from './queueChanges.ts'
import { texts } from '../texts.ts'
import { useQueue, type QueueActions } from './useQueue.ts'
import { WithdrawnMessage, type Withdrawn } from './WithdrawnMessage.tsx'

const QueueEditor = optionalPart(async () => (await import('./QueueEditor.tsx')).QueueEditor)

interface QueueProps {
  readonly task: Task
  /** The queue as it is recorded, without the person's changes that the server has not confirmed yet. */
  readonly queue: readonly MessageDocument[]
  /** The box of the next message, which gets the focus after the edit of a message that has left the queue. */
  readonly box: RefObject<HTMLTextAreaElement | null>
  /** Sends the edited text as a new message, if the old message has left the queue meanwhile. */
  readonly onSend: (text: string, isCommand: boolean) => void
}

export function Queue({ task, queue: logged, box, onSend }: QueueProps) {
  const { changes } = useSelector(selectOpenTask)
  const actions = useQueue(task.id)
  const wide = useMedia('(width >= 768px)')
  const [unfolded, setUnfolded] = useState(false)
  const [announcement, setAnnouncement] = useState('')
  const running = task.status === 'running'
  // After a turn failed or was stopped, the queue waits until somebody starts it.
  const active = running || task.status === 'queued'

  const queue = withChanges(logged, changes)
  const ids = queue.filter(({ isBeingSteered }) => !isBeingSteered).map(({ messageId }) => messageId)
  const withdrawals = useWithdrawals({ queue, ids, active, actions })
  const editing = useEditing(queue, actions, onSend)
  useFocusBack(editing.message?.messageId ?? null, box)
  const reorder = (messageIds: readonly string[]) => {
    // The request for a new order must name all waiting messages, so the withdrawals of hidden messages are sent first.
    void withdrawals.finishAll()
    actions.reorder(messageIds)
  }
  const drag = useDragOrder(ids, reorder)
  // Messages that are being sent to the running turn come first.
  const rows = [
    ...queue.filter(({ isBeingSteered }) => isBeingSteered),
    ...(drag.order ?? ids).flatMap((id) => queue.find(({ messageId }) => messageId === id) ?? []),
  ]

  const move = (id: string, by: Step) => {
    const place = by === 'first' ? 0 : by === 'last' ? ids.length : ids.indexOf(id) + by
    const next = moved(ids, id, place)
    if (next === ids) return
    reorder(next)
    setAnnouncement(texts.queue.movedTo(next.indexOf(id) + 1, next.length))
  }
  const withdraw = (message: WaitingMessage) => {
    setAnnouncement(texts.queue.withdrawn)
    withdrawals.withdraw(message)
  }

  const { gone } = withdrawals
  const { message: edited, isGone } = editing
  const folded = !wide && !unfolded && edited === null
  // A folded list shows no countdown, and no button to undo a withdrawal.
  useEffect(() => {
    if (folded) void heldWithdrawals.send?.()
  }, [folded])
  const editor = edited !== null && (
    <Suspense fallback={null}>
      <QueueEditor
        key={edited.id}
        message={edited}
        taskAgent={task.agent}
        gone={isGone}
        onSave={editing.save}
        onCancel={editing.end}
        onMissing={editing.end}
      />
    </Suspense>
  )
  const live = (
    <p role="status" className="sr-only">
      {announcement}
    </p>
  )
  if (rows.length === 0 && gone.length === 0 && edited === null) return live
  return (
    // `relative`, because the editor shows its list of commands above this element.
    <div className="relative mx-2 rounded-t-panel border border-b-0 border-line bg-panel">
      {live}
      <Header
        task={task}
        count={queue.length}
        active={active}
        first={rows[0]?.message ?? ''}
        folded={folded}
        onFold={wide ? null : () => setUnfolded(!unfolded)}
      />
      {!folded && (
        <ul
          aria-label={texts.queue.label}
          onPointerMove={drag.onPointerMove}
          onPointerUp={drag.onPointerUp}
          onPointerCancel={drag.onPointerCancel}
          className="max-h-40 overflow-y-auto"
        >
          {rows.map((message) =>
            message.messageId === edited?.messageId && !isGone ? (
              <li key={message.id}>{editor}</li>
            ) : (
              <QueuedMessage
                key={message.id}
                message={message}
                maySteer={running && message.agent === task.agent && canDo(message.agent, 'steering')}
                dragged={drag.dragged === message.messageId}
                mayMove={ids.length > 1}
                onGrab={(event) => drag.begin(message.messageId, event)}
                onMove={(by) => move(message.messageId, by)}
                onSteer={() => actions.steer(message.messageId)}
                onEdit={() => editing.begin(message)}
                onWithdraw={() => withdraw(message)}
              />
            ),
          )}
          {isGone && <li>{editor}</li>}
          {gone.map((withdrawn) => (
            <WithdrawnMessage
              key={withdrawn.message.id}
              withdrawn={withdrawn}
              onUndo={() => withdrawals.undo(withdrawn)}
              onOver={() => withdrawals.finish(withdrawn)}
            />
          ))}
        </ul>
      )}
    </div>
  )
}

interface WithdrawalOptions {
  readonly queue: readonly WaitingMessage[]
  readonly ids: readonly string[]
  readonly active: boolean
  readonly actions: QueueActions
}

/** Recently withdrawn messages, which can be restored for a while. */
function useWithdrawals({ queue, ids, active, actions }: WithdrawalOptions) {
  const [withdrawn, setWithdrawn] = useState<readonly Withdrawn[]>([])
  const gone = withdrawn.filter(({ message }) => !queue.some(({ id }) => id === message.id))
  const forget = ({ message }: Withdrawn) =>
    setWithdrawn((others) => others.filter((other) => other.message.id !== message.id))
  const finish = (taken: Withdrawn, send = actions.withdraw) => {
    forget(taken)
    if (taken.show === null) return
    send(taken.message.messageId)
    taken.show()
  }
  const withdraw = (message: WaitingMessage) => {
    const place = ids.indexOf(message.messageId)
    // While something is running, the agent could get the message at any moment, so the withdrawal is sent at once.
    const show = active ? null : actions.hide(message.messageId)
    if (active) actions.withdraw(message.messageId)
    setWithdrawn((others) => [...others, { message, place, show }])
  }
  const undo = (taken: Withdrawn) => {
    forget(taken)
    if (taken.show !== null) return taken.show()
    actions.restore(taken.message, (id) => ids.toSpliced(taken.place, 0, id))
  }
  const finishAll = () => {
    for (const taken of gone) if (taken.show !== null) finish(taken)
    // A message that is sent now starts no turn, and must not wait until the agent takes another.
    return active ? undefined : new Promise<void>(actions.afterwards)
  }
  useEffect(() => {
    heldWithdrawals.send = finishAll
  })
  useEffect(
    () => () => {
      // Leaving the page completes pending withdrawals.
      void heldWithdrawals.send?.()
      heldWithdrawals.send = undefined
    },
    [],
  )
  useWindowEvent('pagehide', () => {
    for (const taken of gone) if (taken.show !== null) finish(taken, actions.withdrawNow)
  })
  return { gone, withdraw, undo, finish, finishAll }
}

/** The message being edited. If it leaves the queue meanwhile, the text is sent as a new message. */
function useEditing(queue: readonly WaitingMessage[], actions: QueueActions, onSend: QueueProps['onSend']) {
  const [message, begin] = useState<WaitingMessage | null>(null)
  const isGone =
    message !== null && !queue.some(({ id, isBeingSteered }) => id === message.id && !isBeingSteered)
  const end = () => begin(null)
  const save = (text: string) => {
    if (message === null) return
    if (isGone) onSend(text, message.isCommand)
    else if (text !== message.message) actions.edit(message.messageId, text)
    end()
  }
  return { message, isGone, begin, save, end }
}

interface HeaderProps {
  readonly task: Task
  readonly count: number
  readonly active: boolean
  readonly first: string
  readonly folded: boolean
  /** Collapses or expands the list; `null` when the list cannot be collapsed. */
  readonly onFold: (() => void) | null
}

function Header({ task, count, active, first, folded, onFold }: HeaderProps) {
  const { start, starting } = useTaskActions(task)
  return (
    <div className="flex min-h-11 items-center border-b border-line-soft pr-1 pl-3 text-meta text-muted md:min-h-7">
      {onFold === null ? (
        <p className="flex-1">{active ? texts.composer.queued(count) : texts.composer.waiting(count)}</p>
      ) : (
        <button
          type="button"
          aria-expanded={!folded}
          onClick={onFold}
          className="flex h-11 min-w-0 flex-1 items-center gap-2 text-left"
        >
          <span className="flex-none">{texts.queue.count(count)}</span>
          <span className="min-w-0 flex-1 truncate text-text">{folded && first}</span>
          {folded ? <ChevronUp className="size-3.5" /> : <ChevronDown className="size-3.5" />}
        </button>
      )}
      {!active && count > 0 && (
        <Button kind="ghost" size="small" busy={starting} onClick={start}>
          {texts.composer.sendNow}
        </Button>
      )}
    </div>
  )
}

/**
 * Drag-and-drop reordering of a list, whose rows have their id in `data-id`. The list itself captures the pointer, since a row loses it when it moves
 * in the DOM.
 */
function useDragOrder(ids: readonly string[], onDrop: (ids: readonly string[]) => void) {
  const [drag, setDrag] = useState<{ readonly id: string; readonly order: readonly string[] } | null>(null)
  return {
    /** The order during a drag, else `null`. */
    order:
      drag === null
        ? null
        : [...drag.order.filter((id) => ids.includes(id)), ...ids.filter((id) => !drag.order.includes(id))],
    dragged: drag?.id ?? null,
    begin: (id: string, event: PointerEvent<HTMLElement>) => {
      if (event.button !== 0) return
      event.currentTarget.closest('ul')?.setPointerCapture(event.pointerId)
      setDrag({ id, order: ids })
    },
    onPointerMove: ({ clientY, currentTarget }: PointerEvent<HTMLElement>) => {
      if (drag === null) return
      const rows = [...currentTarget.querySelectorAll<HTMLElement>('[data-id]')]
      const others = rows.filter(({ dataset }) => dataset['id'] !== drag.id)
      const to = others.filter((row) => {
        const { top, height } = row.getBoundingClientRect()
        return top + height / 2 < clientY
      }).length
      const order = moved(drag.order, drag.id, to)
      if (order !== drag.order) setDrag({ ...drag, order })
    },
    onPointerUp: () => {
      if (drag === null) return
      setDrag(null)
      if (drag.order.some((id, place) => ids[place] !== id)) onDrop(drag.order)
    },
    onPointerCancel: () => setDrag(null),
  }
}
