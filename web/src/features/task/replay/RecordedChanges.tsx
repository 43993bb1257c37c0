/** The changes of a task as they were recorded at a moment of its history. */
import { useEffect, useState } from 'react'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { ChangesLoading } from '../changes/ChangesLoading.tsx'
import type { RecordedChangesProps, Replayed } from '../replayContext.ts'
import { texts } from '../history/texts.ts'

/** How long a moment must be shown before its changes are read, in milliseconds: nobody looks at changes while dragging the slider. */
const restMs = 150

const nothing = () => undefined

export function RecordedChanges({ Panel, task, reload, visible, tools, replayed }: RecordedChangesProps) {
  const { changesAt, changes } = replayed
  const [read, setRead] = useState<Awaited<ReturnType<Replayed['changes']>> | null>(null)
  useEffect(() => {
    // A hidden panel reads no changes.
    if (changesAt === null || !visible) return undefined
    let isLeft = false
    const show = async () => {
      const answer = await changes(changesAt)
      if (!isLeft) setRead(answer)
    }
    const timer = setTimeout(() => void show(), restMs)
    return () => {
      isLeft = true
      clearTimeout(timer)
    }
  }, [changesAt, changes, visible])
  if (changesAt === null) return <Empty title={texts.changes.none}>{texts.changes.noneWhy}</Empty>
  if (read === null) return <ChangesLoading says={texts.changes.loading} />
  if ('reason' in read)
    return (
      <div role={replayed.isSaved ? 'status' : 'alert'}>
        <Empty title={replayed.isSaved ? texts.changes.notInFile : texts.changesNotFetched}>
          {read.reason}
        </Empty>
      </div>
    )
  if (read.diff.totalChanges === 0) return <Empty title={texts.changes.none}>{texts.changes.noneWhy}</Empty>
  const { additions, deletions } = task.changes ?? { additions: 0, deletions: 0 }
  const truncated = read.diff.truncated ? texts.changes.truncated : undefined
  const note = read.kept ? truncated : texts.changes.gone(additions, deletions)
  return (
    <Panel
      task={task}
      diff={read.diff}
      reload={reload}
      visible={visible}
      tools={tools}
      refreshing={false}
      onRefresh={nothing}
      onReading={nothing}
      notes={
        note !== undefined && (
          <Note kind="warning" className="m-3 flex-none">
            {note}
          </Note>
        )
      }
    />
  )
}
