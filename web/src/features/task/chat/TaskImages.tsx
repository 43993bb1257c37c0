/** The images that a task began with, before everything else that is said in it. */
import { Paperclip } from 'lucide-react'
import type { Task } from '#domain/api/tasks.schema.ts'
import { Pictures } from '../../images/Pictures.tsx'
import { texts as imageTexts } from '../../images/texts.ts'
import { MessageTime } from './MessageTime.tsx'
import { texts } from './texts.ts'

/** Section 9. */
const shown = 6

export function TaskImages({ task: { id, images } }: { readonly task: Task }) {
  const [first] = images
  if (first === undefined) return null
  return (
    <article className="mt-3.5 px-4">
      <div className="mb-1 flex items-center gap-2 text-meta/5 text-muted">
        <span className="inline-grid size-5 place-items-center">
          <Paperclip className="size-3.5" />
        </span>
        <b className="text-ui font-semibold text-text">{texts.chat.system}</b>
        <MessageTime at={first.uploadedAt} />
      </div>
      <div className="md:pl-7">
        <p className="mb-1.5">{imageTexts.taskImages(images.length)}</p>
        <Pictures taskId={id} pictures={images} layout="grid" most={shown} />
      </div>
    </article>
  )
}
