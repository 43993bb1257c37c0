/** A message that was just withdrawn, shown for a while at the end of the queue with a button to undo the withdrawal. */
import { useSelector } from 'react-redux'
import { Button } from '../../../../ui/form/Button.tsx'
import { useCountdown } from '../../../../ui/overlay/useCountdown.ts'
import { selectPicturesOf } from '../picturesSlice.ts'
import { texts } from '../texts.ts'
import type { WaitingMessage } from './queueChanges.ts'

export interface Withdrawn {
  readonly message: WaitingMessage
  readonly place: number
  /** Shows the message again while it is hidden only on this page; `null` if the withdrawal was sent. */
  readonly show: (() => void) | null
}

interface WithdrawnMessageProps {
  readonly withdrawn: Withdrawn
  readonly onUndo: () => void
  readonly onOver: () => void
}

/** How long the withdrawal can be undone, in milliseconds: as long as a notification of success is shown (contract, section 9). */
const undoTimeoutMs = 5_000

export function WithdrawnMessage({ withdrawn: { message, show }, onUndo, onOver }: WithdrawnMessageProps) {
  const clock = useCountdown(undoTimeoutMs, onOver)
  const hasImages = useSelector(selectPicturesOf(message.messageId)).length > 0
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- pointing at it only stops its clock
    <li
      {...clock}
      className="flex h-11 items-center gap-2 border-t border-line-soft pr-1.5 pl-3 text-ui text-muted first:border-t-0 md:h-8"
    >
      <span className="flex-none">{texts.queue.withdrawn}</span>
      <s className="min-w-0 flex-1 truncate">{message.message}</s>
      <Button size="small" kind="ghost" onClick={onUndo} className="max-md:h-11!">
        {show === null && hasImages ? texts.queue.undoWords : texts.queue.undo}
      </Button>
    </li>
  )
}
