/** The images of a task above its terminal: those that the task started with, and those of its messages. */
import { ChevronDown, ChevronRight } from 'lucide-react'
import { useId, useMemo, useState } from 'react'
import { useSelector } from 'react-redux'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { Picture } from '../../images/usePictureAddresses.ts'
import { Pictures } from '../../images/Pictures.tsx'
import { texts } from '../../images/texts.ts'
import { selectPictures } from '../chat/picturesSlice.ts'

/** The maximum number of images that are shown (contract, section 9). */
const maxPictures = 4

export function TerminalPictures({ task }: { readonly task: Task }) {
  const id = useId()
  const [open, setOpen] = useState(false)
  const ofMessages = useSelector(selectPictures)
  const pictures = useMemo(() => {
    const all = [...task.images, ...Object.values(ofMessages).flat()]
    return [...new Map(all.map((picture: Picture) => [picture.id, picture])).values()]
  }, [task.images, ofMessages])
  if (pictures.length === 0) return null
  const Chevron = open ? ChevronDown : ChevronRight
  return (
    <section aria-label={texts.images(pictures.length)} className="flex-none border-b border-line-soft">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="focus-inset flex h-11 w-full items-center gap-1.5 px-4 text-meta text-muted hover:text-text md:h-8"
      >
        <Chevron className="size-3" />
        {texts.images(pictures.length)}
      </button>
      <div id={id} hidden={!open} className="px-4 pb-3">
        <Pictures
          taskId={task.id}
          pictures={pictures}
          layout={pictures.length === 1 ? 'single' : pictures.length < maxPictures ? 'horizontal' : 'grid'}
          most={maxPictures}
        />
      </div>
    </section>
  )
}
