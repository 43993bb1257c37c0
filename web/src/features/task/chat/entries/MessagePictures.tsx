/** The images of a message, side by side, and the images of the task at the head of the chat. A message does not repeat the task's images. */
import { useMemo } from 'react'
import { useSelector } from 'react-redux'
import { Paperclip } from 'lucide-react'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { Picture } from '../../../images/usePictureAddresses.ts'
import { Pictures } from '../../../images/Pictures.tsx'
import { selectOpenTask } from '../../taskSlice.ts'
import { selectPicturesOf } from '../picturesSlice.ts'
import { texts as imageTexts } from '../../../images/texts.ts'
import { texts } from '../texts.ts'
import { MessageTime } from './MessageHead.tsx'

/** The maximum number of images that a message shows (contract, section 9). */
const maxMessageImages = 3

interface MessagePicturesProps {
  readonly taskId: string
  readonly messageId: string
  /** The images of a message that is not recorded in the chat yet. */
  readonly sent?: readonly Picture[] | undefined
  readonly spaced: boolean
}

export function MessagePictures({ taskId, messageId, sent, spaced }: MessagePicturesProps) {
  const ofMessage = useSelector(useMemo(() => selectPicturesOf(messageId), [messageId]))
  const pictures = sent ?? ofMessage
  // Selects only a boolean. The object of the open task changes with each event, and would render the pictures again each time.
  const areOfTask = useSelector((state: Parameters<typeof selectOpenTask>[0]) => {
    const ofTask = selectOpenTask(state).task?.images ?? []
    return pictures.length === ofTask.length && pictures.every(({ id }, at) => id === ofTask[at]?.id)
  })
  if (pictures.length === 0 || areOfTask) return null
  return (
    <Pictures
      taskId={taskId}
      pictures={pictures}
      layout={pictures.length === 1 ? 'single' : 'horizontal'}
      most={maxMessageImages}
      className={spaced ? 'mt-2' : ''}
    />
  )
}

/** The maximum number of images at the head of the chat (contract, section 9). */
const maxTaskImages = 6

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
        <Pictures taskId={id} pictures={images} layout="grid" most={maxTaskImages} />
      </div>
    </article>
  )
}
