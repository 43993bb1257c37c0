/** The messages that wait, joined to the composer: put in order by the grip, changed in place, told at once, withdrawn. */
import { ChevronDown, ChevronUp } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useSelector } from 'react-redux'
import { agentNamed } from '#domain/agents.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { Button } from '../../../../ui/form/Button.tsx'
import { useMedia } from '../../../../ui/hooks.ts'
import { selectOpenTask } from '../../taskSlice.ts'
import { useTaskActions } from '../../useTaskActions.ts'
import { QueuedMessage } from './QueuedMessage.tsx'
import { QueueEditor } from './QueueEditor.tsx'
import { moved, withChanges, type WaitingMessage } from './queueChanges.ts'
import { texts } from '../texts.ts'
import { useDragOrder } from './useDragOrder.ts'
import { useQueue } from './useQueue.ts'
import { WithdrawnMessage, type Withdrawn } from '../entries/UnansweredMessage.tsx'

interface QueueProps {
  readonly task: Task
  /** As the log has it. */
  readonly queue: readonly MessageDocument[]
  /** Sends what was written for a message that the agent got meanwhile. */
  readonly onSend: (text: string, isCommand: boolean) => void
}

interface Editing {
  readonly message: WaitingMessage
  readonly text: string
}

export function Queue({ task, queue: logged, onSend }: QueueProps) {
  const { changes } = useSelector(selectOpenTask)
  const { start, starting } = useTaskActions(task)
  const actions = useQueue(task.id)
  const wide = useMedia('(width >= 768px)')
  const [unfolded, setUnfolded] = useState(false)
  const [editing, setEditing] = useState<Editing | null>(null)
  const [withdrawn, setWithdrawn] = useState<readonly Withdrawn[]>([])
  const [said, setSaid] = useState('')
  const running = task.status === 'running'
  // A turn that failed or was stopped leaves what waits waiting, until somebody says so.
  const active = running || task.status === 'queued'

  const queue = withChanges(logged, changes)
  const ids = queue.filter(({ steered }) => !steered).map(({ messageId }) => messageId)
  const gone = withdrawn.filter(({ message }) => !queue.some(({ id }) => id === message.id))
  const forget = ({ message }: Withdrawn) =>
    setWithdrawn((others) => others.filter((other) => other.message.id !== message.id))
  const finish = (taken: Withdrawn) => {
    forget(taken)
    if (taken.show === null) return
    actions.withdraw(taken.message.messageId)
    taken.show()
  }
  const reorder = (messageIds: readonly string[]) => {
    // The order names all that wait: what is only hidden is withdrawn before.
    gone.forEach(finish)
    actions.reorder(messageIds)
  }
  const drag = useDragOrder(ids, reorder)
  const order = drag.order ?? ids
  const shown = [
    ...queue.filter(({ steered }) => steered),
    ...order.flatMap((id) => queue.find(({ messageId }) => messageId === id) ?? []),
  ]

  const move = (id: string, to: number) => {
    const next = moved(ids, id, to)
    if (next === ids) return
    reorder(next)
    setSaid(texts.queue.movedTo(next.indexOf(id) + 1, next.length))
  }
  const withdraw = (message: WaitingMessage) => {
    const place = ids.indexOf(message.messageId)
    setSaid(texts.queue.withdrawn)
    // While something runs it could be given to the agent any moment: it is taken back at once.
    const show = active ? null : actions.hide(message.messageId)
    if (active) actions.withdraw(message.messageId)
    setWithdrawn((others) => [...others, { message, place, show }])
  }
  const undo = (taken: Withdrawn) => {
    forget(taken)
    if (taken.show !== null) return taken.show()
    actions.restore(taken.message, (id) => ids.toSpliced(taken.place, 0, id))
  }
  // Who leaves the page meant it.
  const leave = useRef<() => void>(() => undefined)
  useEffect(() => {
    leave.current = () => withdrawn.forEach(finish)
  })
  useEffect(() => () => leave.current(), [])

  const isGone = editing !== null && !queue.some(({ id, steered }) => id === editing.message.id && !steered)
  const save = (text: string) => {
    if (editing === null) return
    if (isGone) onSend(text, editing.message.isCommand)
    else if (text !== editing.message.message) actions.edit(editing.message.messageId, text)
    setEditing(null)
  }
  const editor = editing !== null && (
    <QueueEditor
      key={editing.message.id}
      message={editing.message}
      taskAgent={task.agent}
      gone={isGone}
      onSave={save}
      onCancel={() => setEditing(null)}
    />
  )

  const live = (
    <p role="status" className="sr-only">
      {said}
    </p>
  )
  if (shown.length === 0 && gone.length === 0 && editing === null) return live
  const folded = !wide && !unfolded && editing === null
  const count = active ? texts.composer.queued(queue.length) : texts.composer.waiting(queue.length)
  return (
    // The list of commands of its editor stands above it.
    <div className="relative mx-2 rounded-t-panel border border-b-0 border-line bg-panel">
      {live}
      <div className="flex min-h-11 items-center border-b border-line-soft pr-1 pl-3 text-meta text-muted md:min-h-7">
        {wide ? (
          <p className="flex-1">{count}</p>
        ) : (
          <button
            type="button"
            aria-expanded={!folded}
            onClick={() => setUnfolded(!unfolded)}
            className="flex h-11 min-w-0 flex-1 items-center gap-2 text-left"
          >
            <span className="flex-none">{texts.queue.count(queue.length)}</span>
            <span className="min-w-0 flex-1 truncate text-text">{folded && (shown[0]?.message ?? '')}</span>
            {folded ? <ChevronUp className="size-3.5" /> : <ChevronDown className="size-3.5" />}
          </button>
        )}
        {!active && queue.length > 0 && (
          <Button
            kind="ghost"
            size="small"
            busy={starting}
            onClick={() => {
              // What was withdrawn must not be what it begins with.
              gone.forEach(finish)
              actions.afterwards(start)
            }}
          >
            {texts.composer.sendNow}
          </Button>
        )}
      </div>
      {!folded && (
        <ul
          aria-label={texts.queue.label}
          onPointerMove={drag.onPointerMove}
          onPointerUp={drag.onPointerUp}
          onPointerCancel={drag.onPointerCancel}
          className="max-h-40 overflow-y-auto"
        >
          {shown.map((message) => {
            const { messageId } = message
            if (messageId === editing?.message.messageId && !isGone) return <li key={message.id}>{editor}</li>
            return (
              <QueuedMessage
                key={message.id}
                message={message}
                maySteer={running && message.agent === task.agent && agentNamed(message.agent).canSteer}
                dragged={drag.dragged === messageId}
                mayMove={ids.length > 1}
                onGrab={(event) => drag.begin(messageId, event)}
                onMove={(by) =>
                  move(
                    messageId,
                    by === 'first' ? 0 : by === 'last' ? ids.length : ids.indexOf(messageId) + by,
                  )
                }
                onSteer={() => actions.steer(messageId)}
                onEdit={() => setEditing({ message, text: message.message ?? '' })}
                onWithdraw={() => withdraw(message)}
              />
            )
          })}
          {isGone && <li>{editor}</li>}
          {gone.map((taken) => (
            <WithdrawnMessage
              key={taken.message.id}
              withdrawn={taken}
              onUndo={() => undo(taken)}
              onOver={() => finish(taken)}
            />
          ))}
        </ul>
      )}
    </div>
  )
}
