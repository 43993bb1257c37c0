/** The sender, time and status of a message, with its menu. */
import { Copy, Trash2 } from 'lucide-react'
import { createContext, type ReactNode, use, useState } from 'react'
import { classes } from '../../../../ui/classes.ts'
import { Menu, type MenuItem } from '../../../../ui/overlay/Menu.tsx'
import { Status, type StatusName } from '../../../../ui/status/Status.tsx'
import { DeleteQuestion } from '../../../deletions/DeleteQuestion.tsx'
import { ellipsisButton } from '../../ellipsisButton.tsx'
import { useReplayed } from '../../replayContext.ts'
import { texts as taskTexts } from '../../texts.ts'
import { texts } from '../texts.ts'
import { useCopy } from '../../useCopy.ts'
import { messageTime } from '../../../../ui/text/times.ts'

interface MessageHeadProps {
  readonly mark: ReactNode
  readonly name: string
  readonly at: string
  readonly status: StatusName | null
  readonly edited?: boolean
  readonly detail?: string | null
  readonly taskId: string
  /** The text that 'Copy Text' copies. */
  readonly text: string
  readonly more?: readonly MenuItem[]
}

export function MessageHead({
  mark,
  name,
  at,
  status,
  edited = false,
  detail = null,
  taskId,
  text,
  more = [],
}: MessageHeadProps) {
  return (
    <div className="mb-1 flex items-center gap-2 text-meta/5 text-muted">
      {mark}
      <b className="text-ui font-semibold text-text">{name}</b>
      <MessageTime at={at} />
      {edited && <span>{texts.chat.edited}</span>}
      {status !== null && <Status status={status} iconOnly />}
      {detail !== null && <span className="truncate">{detail}</span>}
      <span className="flex-1" />
      <MessageMenu taskId={taskId} text={text} more={more} />
    </div>
  )
}

/** The menu of a message, visible while the message is hovered or the menu is open or has the focus, and always on a touch screen. */
export function MessageMenu({
  taskId,
  text,
  more = [],
  over = false,
}: Pick<MessageHeadProps, 'taskId' | 'text' | 'more'> & {
  readonly over?: boolean
}) {
  const copy = useCopy()
  const [deleting, setDeleting] = useState(false)
  // A replay shows the past: nothing can be deleted from it.
  const isReplayed = useReplayed() !== null
  return (
    <>
      <span
        className={classes(
          'opacity-0 group-hover/message:opacity-100 focus-within:opacity-100 has-aria-expanded:opacity-100 pointer-coarse:opacity-100',
          over && 'block rounded-control bg-raised',
        )}
      >
        <Menu
          button={menuButton}
          items={[
            { label: texts.chat.copy, icon: Copy, onChoose: () => copy(text) },
            ...more,
            ...(isReplayed
              ? []
              : [
                  {
                    label: taskTexts.header.delete,
                    icon: Trash2,
                    onChoose: () => setDeleting(true),
                    danger: true,
                  },
                ]),
          ]}
        />
      </span>
      {deleting && (
        <DeleteQuestion
          kind="task"
          id={taskId}
          words={taskTexts.delete}
          open
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  )
}

const menuButton = ellipsisButton({
  label: texts.chat.menu,
  size: 'row',
  className: 'max-md:-my-3 max-md:size-11! md:h-5!',
})

/** The current time in ms since the epoch: one clock ticks for the whole chat. */
export const TimeContext = createContext(0)

export function MessageTime({ at }: { readonly at: string }) {
  const now = use(TimeContext)
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {messageTime(at, now)}
    </time>
  )
}
