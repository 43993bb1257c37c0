/** The bars below the header: a banner if the task's record is damaged, and the previews of servers in its sandbox. */
import type { Task } from '#domain/api/tasks.schema.ts'
import { PreviewBar } from './preview/PreviewBar.tsx'
import { RecordBanner } from './RecordBanner.tsx'
import { useReplayed } from './replayContext.ts'

export function TaskBanners({ task }: { readonly task: Task }) {
  const isReplayed = useReplayed() !== null
  return (
    <>
      {task.unreadable && <RecordBanner task={task} unreadable={task.unreadable} />}
      {!isReplayed && <PreviewBar task={task} />}
    </>
  )
}
