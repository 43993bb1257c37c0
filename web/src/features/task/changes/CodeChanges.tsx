/** The changes of the task, or the reason why there are none to show. */
import { RefreshCw } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { GitDiff } from '#domain/api/tasks.schema.ts'
import { reasonOf } from '../../../api/fault.ts'
import { Button } from '../../../ui/form/Button.tsx'
import { Empty } from '../../../ui/layout/Empty.tsx'
import { Note } from '../../../ui/layout/Note.tsx'
import { RetryNote } from '../../../ui/layout/RetryNote.tsx'
import { useReplayed, type CodeChangesProps } from '../replayContext.ts'
import { isGitDiff, useDiffQuery } from '../taskApi.ts'
import { texts as taskTexts } from '../texts.ts'
import { ChangesLoading } from './ChangesLoading.tsx'
import { ChangesPanel } from './ChangesPanel.tsx'
import { sameChanges } from './diff/readDiffs.ts'
import { texts } from './texts.ts'

export function CodeChanges(props: CodeChangesProps) {
  const replayed = useReplayed()
  if (replayed === null) return <LiveChanges {...props} />
  return <replayed.Changes {...props} Panel={ChangesPanel} replayed={replayed} />
}

function LiveChanges({ task, reload, visible: isVisible, tools }: CodeChangesProps) {
  const read = useDiffQuery(task.id)
  const { data, error, isFetching, refetch } = read
  const newest: unknown = data?.data
  const changes = useKeptChanges(newest)
  const showNewest = async () => {
    const { data: answer } = await refetch()
    changes.keep(answer?.data)
  }
  /** That the shown changes could not be read again. */
  const notRead = data !== undefined && (
    <RetryNote read={read} className="m-3 flex-none">
      {reasonOf(error, texts.errorWhy)}
    </RetryNote>
  )
  const empty = (title: string, why: ReactNode, action: string) => (
    <>
      {notRead}
      <Empty
        title={title}
        action={
          <Button icon={<RefreshCw />} busy={isFetching} onClick={() => void refetch()}>
            {action}
          </Button>
        }
      >
        {why}
      </Empty>
    </>
  )
  if (data === undefined) {
    if (error === undefined) return <ChangesLoading says={texts.loading} />
    return <div role="alert">{empty(texts.error, reasonOf(error, texts.errorWhy), taskTexts.tryAgain)}</div>
  }
  if (!isGitDiff(newest)) return empty(texts.invalid, texts.invalidWhy, taskTexts.tryAgain)
  if (newest.status === 'pending_clone')
    return empty(texts.preparing, newest.message ?? texts.preparingWhy, texts.check)
  if (newest.status === 'not_initialized')
    return empty(texts.notInitialized, newest.message ?? texts.notInitializedWhy, texts.refresh)
  const visibleDiff = changes.kept ?? newest
  if (visibleDiff.totalChanges === 0) {
    const branch = <span className="mono text-text">{visibleDiff.currentBranch || task.branch}</span>
    const why = (
      <>
        {texts.noneWhy} {texts.onBranch} {branch}
      </>
    )
    return empty(texts.none, why, texts.refresh)
  }
  return (
    <ChangesPanel
      task={task}
      diff={visibleDiff}
      reload={reload}
      visible={isVisible}
      tools={tools}
      refreshing={isFetching}
      onRefresh={() => void showNewest()}
      onReading={changes.setReading}
      notes={
        <>
          {notRead}
          <Notes
            warning={visibleDiff.truncated === true ? texts.truncated : visibleDiff.message}
            stale={changes.isStale}
            onRefresh={() => changes.keep(newest)}
          />
        </>
      }
    />
  )
}

/** Keeps the changes that somebody is reading. Newer changes are shown only when the person requests them, so that nothing moves meanwhile. */
function useKeptChanges(newest: unknown) {
  const [keptDiff, setKeptDiff] = useState<GitDiff | null>(null)
  const [reading, setReading] = useState(false)
  const keep = (diff: unknown) => setKeptDiff(isGitDiff(diff) ? diff : null)
  if (!isGitDiff(newest) || newest.status === 'pending_clone' || newest.status === 'not_initialized') {
    return { kept: null, isStale: false, setReading, keep }
  }
  const isStale = keptDiff !== null && !sameChanges(keptDiff.changedFiles, newest.changedFiles)
  // Outdated changes are kept after the person has stopped reading, or the page would move when they return.
  const keptWhileStale = isStale ? keptDiff : null
  const kept = reading ? (keptDiff ?? newest) : keptWhileStale
  if (kept !== keptDiff) setKeptDiff(kept)
  return { kept, isStale, setReading, keep }
}

interface NotesProps {
  readonly warning: string | undefined
  readonly stale: boolean
  readonly onRefresh: () => void
}

function Notes({ warning, stale, onRefresh }: NotesProps) {
  return (
    <>
      {warning !== undefined && (
        <Note kind="warning" className="m-3 flex-none">
          {warning}
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
