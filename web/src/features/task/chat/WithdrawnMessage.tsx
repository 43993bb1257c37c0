/** In the place of a message that was withdrawn, for a while: the way back. */
import { useSelector } from 'react-redux'
import { Button } from '../../../ui/Button.tsx'
import { useCountdown } from '../../../ui/useCountdown.ts'
import { selectPicturesOf } from './pictures.ts'
import type { WaitingMessage } from './queueChanges.ts'
import { texts } from './texts.ts'

export interface Withdrawn {
  readonly message: WaitingMessage
  /** Its place among those that wait. */
  readonly place: number
  /** Shows it again when it was only hidden and the server does not know yet; else `null`. */
  readonly show: (() => void) | null
}

interface WithdrawnMessageProps {
  readonly withdrawn: Withdrawn
  readonly onUndo: () => void
  readonly onOver: () => void
}

/** As long as other notifications (section 9), in milliseconds. */
const shownFor = 5_000

export function WithdrawnMessage({ withdrawn: { message, show }, onUndo, onOver }: WithdrawnMessageProps) {
  const clock = useCountdown(shownFor, onOver)
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
