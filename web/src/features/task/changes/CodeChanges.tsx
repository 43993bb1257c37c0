/** What the task changed, in whichever of its states that is. */
import { GitBranch, RefreshCw } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { GitDiff, Task } from '#domain/api/tasks.ts'
import { reasonOf } from '../../../api/fault.ts'
import { Button } from '../../../ui/Button.tsx'
import { Empty } from '../../../ui/Empty.tsx'
import { IconButton } from '../../../ui/IconButton.tsx'
import { Note } from '../../../ui/Note.tsx'
import { Skeleton } from '../../../ui/Skeleton.tsx'
import { useDiffQuery } from '../taskApi.ts'
import { texts as taskTexts } from '../texts.ts'
import { DiffView } from './DiffView.tsx'
import { isGitDiff } from './isGitDiff.ts'
import { texts } from './texts.ts'

export function CodeChanges({ task }: { readonly task: Task }) {
  const { data, error, isFetching, refetch } = useDiffQuery(task.id)
  // The changes that are being read; newer ones wait until they are asked for, so that nothing jumps.
  const [held, setHeld] = useState<GitDiff | null>(null)
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
        <State title={texts.error} action={again(taskTexts.tryAgain)}>
          {reasonOf(error, texts.errorWhy)}
        </State>
      </div>
    )
  }
  const newest: unknown = data.data
  if (!isGitDiff(newest)) {
    return (
      <State title={texts.invalid} action={again(taskTexts.tryAgain)}>
        {texts.invalidWhy}
      </State>
    )
  }
  if (newest.status === 'pending_clone') {
    return (
      <State title={texts.preparing} action={again(texts.check)}>
        {newest.message ?? texts.preparingWhy}
      </State>
    )
  }
  if (newest.status === 'not_initialized') {
    return (
      <State title={texts.notInitialized} action={again(texts.refresh)}>
        {newest.message ?? texts.notInitializedWhy}
      </State>
    )
  }
  const shown = held ?? newest
  if (shown.totalChanges === 0) {
    return (
      <State title={texts.none} action={again(texts.refresh)}>
        {texts.noneWhy} {texts.onBranch}{' '}
        <span className="mono text-text">{shown.currentBranch || task.branch}</span>
      </State>
    )
  }
  return (
    <>
      <div className="flex h-11 flex-none items-center gap-3 border-b border-line-soft pr-1 pl-4 text-meta whitespace-nowrap text-muted md:h-9">
        <h2 className="text-ui font-medium text-text">{texts.title(shown.changedFiles.length)}</h2>
        <span className="inline-flex min-w-0 items-center gap-1.25">
          <GitBranch className="size-3" />
          <span className="truncate mono" title={shown.currentBranch}>
            {shown.currentBranch}
          </span>
        </span>
        <span className="hidden xl:inline">
          {texts.compared(shown.commitComparison.ahead, shown.commitComparison.behind, shown.baseBranch)}
        </span>
        <span className="flex-1" />
        <IconButton
          icon={RefreshCw}
          label={texts.refresh}
          size="small"
          busy={isFetching}
          onClick={() => {
            setHeld(null)
            void refetch()
          }}
        />
      </div>
      {shown.truncated && (
        <Note kind="warning" className="m-3 flex-none">
          {texts.truncated}
        </Note>
      )}
      {held !== null && newest.version > held.version && (
        <Note
          kind="warning"
          className="m-3 flex-none"
          action={
            <Button size="small" onClick={() => setHeld(null)}>
              {texts.refresh}
            </Button>
          }
        >
          {texts.stale}
        </Note>
      )}
      <DiffView
        files={shown.changedFiles}
        onReading={(reading) => setHeld((before) => (reading ? (before ?? newest) : null))}
      />
    </>
  )
}

interface StateProps {
  readonly title: string
  readonly action: ReactNode
  readonly children: ReactNode
}

function State({ title, action, children }: StateProps) {
  return (
    <Empty title={title} action={action}>
      {children}
    </Empty>
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
