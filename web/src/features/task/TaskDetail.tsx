/** The page of one task: its header, banners and panels, now or at a moment of its history. Under `/compare`, the page that compares its runs. */
import { lazy, Suspense, useMemo, type ReactNode } from 'react'
import { Provider, useSelector } from 'react-redux'
import { useLocation, useParams } from 'react-router-dom'
import { useAppStore } from '../../state/hooks.ts'
import { isUnknownId } from '../../api/isUnknownId.ts'
import { usePageTitle } from '../tasks/usePageTitle.ts'
import { inTime } from '../../ui/inTime.ts'
import { optionalPart } from '../../ui/optionalPart.tsx'
import { Button, ButtonLink } from '../../ui/form/Button.tsx'
import { Empty } from '../../ui/layout/Empty.tsx'
import { PageSpinner, Skeleton, Spinner } from '../../ui/status/Loading.tsx'
import { useIsDeleted } from '../deletions/deletions.ts'
import { selectOpenTask } from './taskSlice.ts'
import { notSelected } from './taskSync.ts'
import { TaskHeader } from './TaskHeader.tsx'
import { TaskPanels } from './TaskPanels.tsx'
import { ReplayContext, type Replayed } from './replayContext.ts'
import { texts } from './texts.ts'
import { useReplayMoment, useTaskHistory, type TaskHistory } from './useTaskHistory.ts'
import { useTaskSync, type OpenTaskSync } from './useTaskSync.ts'

const TaskBanners = optionalPart(async () => (await import('./TaskBanners.tsx')).TaskBanners)
const ComparePage = lazy(() =>
  inTime(async () => ({ default: (await import('./compare/ComparePage.tsx')).ComparePage })),
)

export function TaskDetail() {
  const { taskId = '' } = useParams()
  const compares = useLocation().pathname.endsWith('/compare')
  if (compares)
    return (
      <Suspense fallback={<PageSpinner />}>
        <ComparePage key={taskId} taskId={taskId} />
      </Suspense>
    )
  // The key gives each task a page of its own, without state of the previous task.
  return <OpenTaskPage key={taskId} taskId={taskId} />
}

function OpenTaskPage({ taskId }: { readonly taskId: string }) {
  const open = useTaskSync(taskId)
  const { task, load, deleted } = useSelector(selectOpenTask)
  const deletedHere = useIsDeleted(taskId)
  usePageTitle(task?.title)
  if (deleted || deletedHere || (load.kind === 'failed' && isUnknownId(load.fault))) {
    return <Problem title={texts.notFound} why={texts.notFoundWhy} />
  }
  if (load.kind === 'failed' && load.fault.code === notSelected.code) {
    return <Problem title={texts.notFound} why={notSelected.message} />
  }
  if (load.kind === 'failed') {
    return (
      <Problem
        title={texts.error}
        why={load.fault.message === texts.notFetched ? texts.notLoaded : load.fault.message}
        onRetry={() => open.reload()}
      />
    )
  }
  if (task === null) return <Loading />
  return <LiveOrReplayed taskId={taskId} open={open} />
}

/** Shows the current task, or the task at a moment of its history, with the same components. */
function LiveOrReplayed({ taskId, open }: { readonly taskId: string; readonly open: OpenTaskSync }) {
  const store = useAppStore()
  const history = useTaskHistory(open)
  const moment = useReplayMoment(history.open)
  const session = history.open?.session
  const parts = history.open?.parts
  const replay = moment === null ? null : (session?.replayed() ?? null)
  const now = moment === null ? 0 : Math.floor(moment.time / 1_000) * 1_000
  const changesAt = moment?.changesAt ?? null
  const replayed = useMemo<Replayed | null>(
    () =>
      replay === null || !session || !parts
        ? null
        : { now, changesAt, changes: session.changes, Dock: parts.Dock, Changes: parts.Changes },
    [replay, session, parts, now, changesAt],
  )
  return (
    <Provider store={replay?.store ?? store}>
      <ReplayContext value={replayed}>
        {parts && session && <parts.Address session={session} />}
        <ShownTask open={replay?.open ?? open} history={history}>
          {parts && session && moment && <parts.Bar session={session} replay={moment} />}
        </ShownTask>
        {parts && session && moment && <parts.Scrubber taskId={taskId} session={session} replay={moment} />}
      </ReplayContext>
    </Provider>
  )
}

interface ShownTaskProps {
  readonly open: OpenTaskSync
  readonly history: TaskHistory
  /** Shown between the banners and the panels. */
  readonly children: ReactNode
}

function ShownTask({ open, history, children }: ShownTaskProps) {
  const { task } = useSelector(selectOpenTask)
  if (task === null) return null
  return (
    <>
      <TaskHeader task={task} />
      <Suspense fallback={null}>
        <TaskBanners task={task} />
      </Suspense>
      {children}
      <TaskPanels task={task} open={open} history={history} />
    </>
  )
}

interface ProblemProps {
  readonly title: string
  readonly why: string
  readonly onRetry?: () => void
}

function Problem({ title, why, onRetry }: ProblemProps) {
  return (
    <div role="alert" className="mx-auto w-full max-w-192 px-2 pt-16 md:px-6">
      <Empty
        heading="h1"
        title={title}
        action={
          <div className="flex gap-2">
            {onRetry !== undefined && <Button onClick={onRetry}>{texts.tryAgain}</Button>}
            <ButtonLink to="/dashboard">{texts.back}</ButtonLink>
          </div>
        }
      >
        {why}
      </Empty>
    </div>
  )
}

/** The skeleton of the page. Its header is as high as the real one. */
function Loading() {
  return (
    <div role="status" className="flex min-h-0 flex-1 flex-col">
      <div className="flex h-16.5 flex-none items-center gap-3 border-b border-line bg-panel px-4 md:h-15">
        <Skeleton className="size-8" />
        <div className="grid gap-1.5">
          <Skeleton className="h-4 w-72" />
          <Skeleton className="h-3 w-48" />
        </div>
      </div>
      <div className="grid min-h-0 flex-1 split:grid-cols-[40fr_1px_60fr]">
        <div className="grid content-start gap-4 p-4">
          <span className="inline-flex items-center gap-2 text-muted">
            <Spinner />
            {texts.loading}
          </span>
          <Skeleton className="h-16 w-full" />
          <Skeleton className="h-4 w-3/4" />
          <Skeleton className="h-4 w-1/2" />
        </div>
        <div className="hidden bg-line split:block" />
        <div className="hidden bg-panel split:block" />
      </div>
    </div>
  )
}
