/** A queued message, with buttons to edit, send, move and withdraw it. */
import { CornerRightUp, GripVertical, Pencil, X } from 'lucide-react'
import type { ComponentProps, KeyboardEvent, PointerEvent } from 'react'
import { classes } from '../../../../ui/classes.ts'
import { IconButton } from '../../../../ui/form/IconButton.tsx'
import { Status } from '../../../../ui/status/Status.tsx'
import type { WaitingMessage } from './queueChanges.ts'
import { texts } from '../texts.ts'

export type Step = -1 | 1 | 'first' | 'last'

interface QueuedMessageProps {
  readonly message: WaitingMessage
  /** Whether there is a running turn that can take the message. */
  readonly maySteer: boolean
  readonly mayMove: boolean
  readonly dragged: boolean
  readonly onGrab: (event: PointerEvent<HTMLElement>) => void
  readonly onMove: (by: Step) => void
  readonly onSteer: () => void
  readonly onEdit: () => void
  readonly onWithdraw: () => void
}

const moves = new Map<string, Step>([
  ['ArrowUp', -1],
  ['ArrowDown', 1],
  ['Home', 'first'],
  ['End', 'last'],
])

export function QueuedMessage(props: QueuedMessageProps) {
  const { message, dragged } = props
  const { isBeingSteered, isCommand } = message
  return (
    <li
      data-id={isBeingSteered ? undefined : message.messageId}
      className={classes(
        'flex h-11 items-center border-t md:gap-1 border-line-soft pr-1.5 pl-1.5 text-ui first:border-t-0 md:h-8',
        dragged && 'bg-raised',
      )}
    >
      {isBeingSteered ? (
        <span className="px-1.5 text-run">
          <Status status="running" iconOnly />
        </span>
      ) : (
        <Grip {...props} />
      )}
      <span
        data-searched=""
        className={classes('min-w-0 flex-1 truncate', isCommand && 'font-mono text-code')}
        title={message.message ?? undefined}
      >
        {isCommand && '$ '}
        {message.message ?? texts.chat.erased}
      </span>
      {isBeingSteered ? (
        <span className="flex-none pr-1 text-meta text-muted">{texts.queue.telling}</span>
      ) : (
        <Buttons {...props} />
      )}
    </li>
  )
}

/** The handle to move the message by dragging or with the arrow keys, Home and End. */
function Grip({ mayMove, onGrab, onMove }: QueuedMessageProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const by = moves.get(event.key)
    if (by === undefined) return
    event.preventDefault()
    onMove(by)
  }
  return (
    <RowButton
      icon={GripVertical}
      label={texts.queue.move}
      aria-description={texts.queue.howToMove}
      disabled={!mayMove}
      onPointerDown={onGrab}
      onKeyDown={onKeyDown}
      className="touch-none cursor-grab!"
    />
  )
}

function Buttons({ message, maySteer, onSteer, onEdit, onWithdraw }: QueuedMessageProps) {
  return (
    <>
      {maySteer && !message.isCommand && (
        <RowButton icon={CornerRightUp} label={texts.composer.steer} onClick={onSteer} />
      )}
      {message.message !== null && (
        <RowButton data-opens={message.messageId} icon={Pencil} label={texts.queue.edit} onClick={onEdit} />
      )}
      <RowButton icon={X} label={texts.composer.withdraw} onClick={onWithdraw} />
    </>
  )
}

/** A button of the row. On a phone, buttons are as high as the row but narrow, so that four of them leave room for the text. */
function RowButton({ className = '', ...props }: ComponentProps<typeof IconButton>) {
  return <IconButton {...props} size="row" className={`max-md:h-11! max-md:w-9! ${className}`} />
}
