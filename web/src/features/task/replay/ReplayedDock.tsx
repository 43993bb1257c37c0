/** The dock below the chat in a replay: the queue as it was at the shown moment, without a box to write in. */
import { History } from 'lucide-react'
import { useSelector } from 'react-redux'
import type { MessageDocument } from '#domain/views/chat.ts'
import { chatWidth } from '../chat/chatWidth.ts'
import { ContextUse } from '../chat/composer/ContextUse.tsx'
import { texts } from '../history/texts.ts'
import { selectOpenTask } from '../taskSlice.ts'

interface ReplayedDockProps {
  readonly queue: readonly MessageDocument[]
  readonly says?: string
}

export function ReplayedDock({ queue, says = texts.dock.readOnly }: ReplayedDockProps) {
  const { task } = useSelector(selectOpenTask)
  return (
    <div className={`w-full flex-none px-3 pb-3 md:px-4 md:pb-4 ${chatWidth}`}>
      {queue.length > 0 && (
        <ul aria-label={texts.dock.queue} className="mb-2 max-h-32 overflow-y-auto text-ui text-muted">
          {queue.map(({ id, message }) => (
            <li key={id} className="truncate border-t border-line-soft py-1.5 first:border-t-0">
              {message ?? texts.dock.erased}
            </li>
          ))}
        </ul>
      )}
      <p className="relative flex items-center gap-2.5 rounded-control border border-line px-3 py-2.5 text-ui text-muted">
        <History className="size-3.5 flex-none" />
        {says}
        <ContextUse context={task?.context} />
      </p>
    </div>
  )
}
