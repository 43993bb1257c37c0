/** What the task changed, in whichever of its states that is. */
import { RefreshCw } from 'lucide-react'
import { useState } from 'react'
import type { GitDiff, Task } from '#domain/api/tasks.schema.ts'
import { reasonOf } from '../../../api/fault.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Skeleton } from '../../../ui/status/Loading.tsx'
import { useDiffQuery } from '../taskApi.ts'
import { texts as taskTexts } from '../texts.ts'
import { ChangesPanel } from './ChangesPanel.tsx'
import { isGitDiff, sameChanges } from './diff/readDiffs.ts'
import { texts } from './texts.ts'

interface CodeChangesProps {
  readonly task: Task
  /** Reads the task's history again. */
  readonly reload: () => void
  /** Whether the panel is the one that is looked at. */
  readonly shown: boolean
  /** Where the buttons of the panel stand; `null`: in its own bar. */
  readonly tools: HTMLElement | null
}

export function CodeChanges({ task, reload, shown: isShown, tools }: CodeChangesProps) {
  const { data, error, isFetching, refetch } = useDiffQuery(task.id)
  // The changes that are being read; newer ones wait until they are asked for, so that nothing jumps.
  const [held, setHeld] = useState<GitDiff | null>(null)
  const [reading, setReading] = useState(false)
  const showNewest = async () => {
    const { data: answer } = await refetch()
    const read: unknown = answer?.data
    setHeld(isGitDiff(read) ? read : null)
  }
  const again = (word: string) => (
    <Button icon={<RefreshCw />} busy={isFetching} onClick={() => void refetch()}>
      {word}
    </Button>
  )
  if (data === undefined) {
    return error === undefined ? (
      <Loading />
    ) : (
      <div role="alert">
        <Empty title={texts.error} action={again(taskTexts.tryAgain)}>
          {reasonOf(error, texts.errorWhy)}
        </Empty>
      </div>
    )
  }
  const newest: unknown = data.data
  if (!isGitDiff(newest)) {
    return (
      <Empty title={texts.invalid} action={again(taskTexts.tryAgain)}>
        {texts.invalidWhy}
      </Empty>
    )
  }
  if (newest.status === 'pending_clone') {
    return (
      <Empty title={texts.preparing} action={again(texts.check)}>
        {newest.message ?? texts.preparingWhy}
      </Empty>
    )
  }
  if (newest.status === 'not_initialized') {
    return (
      <Empty title={texts.notInitialized} action={again(texts.refresh)}>
        {newest.message ?? texts.notInitializedWhy}
      </Empty>
    )
  }
  const isStale = held !== null && !sameChanges(held.changedFiles, newest.changedFiles)
  // What was held goes on being shown after the reader has gone, or the page would jump under the next one.
  const keeps = reading ? (held ?? newest) : isStale ? held : null
  if (keeps !== held) setHeld(keeps)
  const shown = keeps ?? newest
  if (shown.totalChanges === 0) {
    return (
      <Empty title={texts.none} action={again(texts.refresh)}>
        {texts.noneWhy} {texts.onBranch}{' '}
        <span className="mono text-text">{shown.currentBranch || task.branch}</span>
      </Empty>
    )
  }
  return (
    <ChangesPanel
      task={task}
      diff={shown}
      reload={reload}
      shown={isShown}
      tools={tools}
      refreshing={isFetching}
      onRefresh={() => void showNewest()}
      onReading={setReading}
      notes={
        <>
          {shown.truncated && (
            <Note kind="warning" className="m-3 flex-none">
              {texts.truncated}
            </Note>
          )}
          {isStale && (
            <Note
              kind="warning"
              className="m-3 flex-none"
              action={
                <Button size="small" onClick={() => setHeld(newest)}>
                  {texts.refresh}
                </Button>
              }
            >
              {texts.stale}
            </Note>
          )}
        </>
      }
    />
  )
}

function Loading() {
  return (
    <div role="status" className="grid gap-3 p-4">
      <span className="sr-only">{texts.loading}</span>
      <Skeleton className="h-5 w-48" />
      <Skeleton className="h-40 w-full" />
    </div>
  )
}
