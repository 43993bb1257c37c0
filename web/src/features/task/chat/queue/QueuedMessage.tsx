/** A queued message, with its buttons. */
import { CornerRightUp, GripVertical, Pencil, X } from 'lucide-react'
import type { KeyboardEvent, PointerEvent } from 'react'
import { classes } from '../../../../ui/classes.ts'
import { IconButton } from '../../../../ui/form/IconButton.tsx'
import { Status } from '../../../../ui/status/Status.tsx'
import type { WaitingMessage } from './queueChanges.ts'
import { texts } from '../texts.ts'

/** A move of a message: by one place, or to an end. */
export type Step = -1 | 1 | 'first' | 'last'

interface QueuedMessageProps {
  readonly message: WaitingMessage
  /** Whether there is a running turn that can take it. */
  readonly maySteer: boolean
  readonly mayMove: boolean
  readonly dragged: boolean
  readonly onGrab: (event: PointerEvent<HTMLElement>) => void
  readonly onMove: (by: Step) => void
  readonly onSteer: () => void
  readonly onEdit: () => void
  readonly onWithdraw: () => void
}

/** On a phone, buttons are as high as the row but narrow, so that four of them leave room for the text. */
const toFingers = 'max-md:h-11! max-md:w-9!'

const moves = { ArrowUp: -1, ArrowDown: 1, Home: 'first', End: 'last' } as const

export function QueuedMessage(props: QueuedMessageProps) {
  const { message, dragged } = props
  const { steered, isCommand } = message
  return (
    <li
      data-id={steered ? undefined : message.messageId}
      className={classes(
        'flex h-11 items-center border-t md:gap-1 border-line-soft pr-1.5 pl-1.5 text-ui first:border-t-0 md:h-8',
        dragged && 'bg-raised',
      )}
    >
      {steered ? (
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
      {steered ? (
        <span className="flex-none pr-1 text-meta text-muted">{texts.queue.telling}</span>
      ) : (
        <Buttons {...props} />
      )}
    </li>
  )
}

/** The handle to move the message by dragging or with the arrow keys. */
function Grip({ mayMove, onGrab, onMove }: QueuedMessageProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const key = (['ArrowUp', 'ArrowDown', 'Home', 'End'] as const).find((name) => name === event.key)
    if (key === undefined) return
    event.preventDefault()
    onMove(moves[key])
  }
  return (
    <IconButton
      icon={GripVertical}
      label={texts.queue.move}
      aria-description={texts.queue.howToMove}
      size="row"
      disabled={!mayMove}
      onPointerDown={onGrab}
      onKeyDown={onKeyDown}
      className={`${toFingers} touch-none cursor-grab!`}
    />
  )
}

function Buttons({ message, maySteer, onSteer, onEdit, onWithdraw }: QueuedMessageProps) {
  return (
    <>
      {maySteer && !message.isCommand && (
        <IconButton
          icon={CornerRightUp}
          label={texts.composer.steer}
          size="row"
          onClick={onSteer}
          className={toFingers}
        />
      )}
      {message.message !== null && (
        <IconButton
          icon={Pencil}
          label={texts.queue.edit}
          size="row"
          onClick={onEdit}
          className={toFingers}
        />
      )}
      <IconButton
        icon={X}
        label={texts.composer.withdraw}
        size="row"
        onClick={onWithdraw}
        className={toFingers}
      />
    </>
  )
}
