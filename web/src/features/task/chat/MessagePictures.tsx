/** The images of a message, side by side. Those that the task began with stand at the head of the chat, and not here again. */
import { useMemo } from 'react'
import { useSelector } from 'react-redux'
import type { Picture } from '../../images/picture.ts'
import { Pictures } from '../../images/Pictures.tsx'
import { selectOpenTask } from '../taskSlice.ts'
import { selectPicturesOf } from './pictures.ts'

/** Section 9. */
const shown = 3

interface MessagePicturesProps {
  readonly taskId: string
  readonly messageId: string
  /** Of a message that is not in the chat yet. */
  readonly sent?: readonly Picture[] | undefined
  /** There is text above them. */
  readonly spaced: boolean
}

export function MessagePictures({ taskId, messageId, sent, spaced }: MessagePicturesProps) {
  const ofMessage = useSelector(useMemo(() => selectPicturesOf(messageId), [messageId]))
  const pictures = sent ?? ofMessage
  // Selected as one word: the open task itself changes with each event.
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
      most={shown}
      className={spaced ? 'mt-2' : ''}
    />
  )
}
