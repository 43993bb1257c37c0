/** The changes of a task as they were recorded at a moment of its history. */
import { useEffect, useState } from 'react'
import type { Task } from '#domain/api/tasks.schema.ts'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Skeleton } from '../../../ui/status/Loading.tsx'
import type { Replayed } from '../replayed.ts'
import { ChangesPanel } from './ChangesPanel.tsx'
import { isGitDiff } from './diff/readDiffs.ts'
import { texts } from './texts.ts'

export interface CodeChangesProps {
  readonly task: Task
  /** Reads the task's history again. */
  readonly reload: () => void
  /** Whether the panel is the one that is looked at. */
  readonly shown: boolean
  /** Where the buttons of the panel stand; `null`: in its own bar. */
  readonly tools: HTMLElement | null
}

/** How long a moment is shown before its changes are read, in ms: who moves through them wants none. */
const restMs = 150

const nothing = () => undefined

export function RecordedChanges({
  task,
  reload,
  shown,
  tools,
  replayed,
}: CodeChangesProps & { readonly replayed: Replayed }) {
  const { changesAt, changes } = replayed
  const [read, setRead] = useState<Awaited<ReturnType<Replayed['changes']>> | null>(null)
  useEffect(() => {
    // What is not looked at is not read.
    if (changesAt === null || !shown) return undefined
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
  }, [changesAt, changes, shown])
  if (changesAt === null) return <Empty title={texts.recorded.none}>{texts.recorded.noneWhy}</Empty>
  if (read === null) return <LoadingChanges />
  if ('reason' in read)
    return (
      <div role="alert">
        <Empty title={texts.error}>{read.reason}</Empty>
      </div>
    )
  if (!isGitDiff(read.diff)) return <Empty title={texts.invalid}>{texts.invalidWhy}</Empty>
  if (read.diff.totalChanges === 0) return <Empty title={texts.recorded.none}>{texts.recorded.noneWhy}</Empty>
  return (
    <ChangesPanel
      task={task}
      diff={read.diff}
      reload={reload}
      shown={shown}
      tools={tools}
      refreshing={false}
      onRefresh={nothing}
      onReading={nothing}
      notes={
        !read.kept ? (
          <Note kind="warning" className="m-3 flex-none">
            {texts.recorded.gone(task.changes?.additions ?? 0, task.changes?.deletions ?? 0)}
          </Note>
        ) : (
          read.diff.truncated && (
            <Note kind="warning" className="m-3 flex-none">
              {texts.truncated}
            </Note>
          )
        )
      }
    />
  )
}

export function LoadingChanges() {
  return (
    <div role="status" className="grid gap-3 p-4">
      <span className="sr-only">{texts.loading}</span>
      <Skeleton className="h-5 w-48" />
      <Skeleton className="h-40 w-full" />
    </div>
  )
}
