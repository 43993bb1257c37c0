/** The changes of the task, or why there are none to show. */
import { RefreshCw } from 'lucide-react'
import { useState } from 'react'
import type { GitDiff } from '#domain/api/tasks.schema.ts'
import { reasonOf } from '../../../api/fault.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { Skeleton } from '../../../ui/status/Loading.tsx'
import { useReplayed, type CodeChangesProps } from '../replayed.ts'
import { isGitDiff, useDiffQuery } from '../taskApi.ts'
import { texts as taskTexts } from '../texts.ts'
import { ChangesPanel } from './ChangesPanel.tsx'
import { sameChanges } from './diff/readDiffs.ts'
import { texts } from './texts.ts'

export function CodeChanges(props: CodeChangesProps) {
  const replayed = useReplayed()
  if (replayed === null) return <LiveChanges {...props} />
  return <replayed.Changes {...props} Panel={ChangesPanel} replayed={replayed} />
}

function LiveChanges({ task, reload, shown: isShown, tools }: CodeChangesProps) {
  const { data, error, isFetching, refetch } = useDiffQuery(task.id)
  const newest: unknown = data?.data
  const changes = useHeldChanges(newest)
  const showNewest = async () => {
    const { data: answer } = await refetch()
    changes.hold(answer?.data)
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
  const shown = changes.kept ?? newest
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
      onReading={changes.setReading}
      notes={
        <Notes
          said={shown.truncated === true ? texts.truncated : shown.message}
          stale={changes.isStale}
          onRefresh={() => changes.hold(newest)}
        />
      }
    />
  )
}

/** Keeps the changes that somebody is reading; newer ones wait until requested, so that nothing moves. */
function useHeldChanges(newest: unknown) {
  const [held, setHeld] = useState<GitDiff | null>(null)
  const [reading, setReading] = useState(false)
  const hold = (diff: unknown) => setHeld(isGitDiff(diff) ? diff : null)
  if (!isGitDiff(newest) || newest.status === 'pending_clone' || newest.status === 'not_initialized') {
    return { kept: null, isStale: false, setReading, hold }
  }
  const isStale = held !== null && !sameChanges(held.changedFiles, newest.changedFiles)
  // They are kept after the reader has left, or the page would move for the next one.
  const keptWhileStale = isStale ? held : null
  const kept = reading ? (held ?? newest) : keptWhileStale
  if (kept !== held) setHeld(kept)
  return { kept, isStale, setReading, hold }
}

interface NotesProps {
  readonly said: string | undefined
  readonly stale: boolean
  readonly onRefresh: () => void
}

function Notes({ said, stale, onRefresh }: NotesProps) {
  return (
    <>
      {said !== undefined && (
        <Note kind="warning" className="m-3 flex-none">
          {said}
        </Note>
      )}
      {stale && (
        <Note
          kind="warning"
          className="m-3 flex-none"
          action={
            <Button size="small" onClick={onRefresh}>
              {texts.refresh}
            </Button>
          }
        >
          {texts.stale}
        </Note>
      )}
    </>
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
