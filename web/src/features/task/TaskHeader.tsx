/** The header of the task page: what the task is and works on, its status, and the actions on the whole task. */
import { ArrowLeft, Columns2, Copy, GitBranch, GitPullRequest, Square, Trash2 } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useSelector } from 'react-redux'
import { Link, useNavigate } from 'react-router-dom'
import type { Task } from '#domain/api/tasks.schema.ts'
import { useAction } from '../../actions/ActionsContext.tsx'
import { selectLive, selectLost } from '../../live/connection.ts'
import { AgentMark } from '../../ui/AgentMark.tsx'
import { Button } from '../../ui/form/Button.tsx'
import { CountdownButton } from '../../ui/form/CountdownButton.tsx'
import { optionalPart } from '../../ui/optionalPart.tsx'
import { elapsed } from '../../ui/text/times.ts'
import { LineCounts } from '../../ui/status/LineCounts.tsx'
import { Menu, type MenuItem } from '../../ui/overlay/Menu.tsx'
import { Progress } from '../../ui/status/Progress.tsx'
import { safeLink } from '../../ui/text/safeLink.ts'
import { Status, type StatusName } from '../../ui/status/Status.tsx'
import { Tooltip } from '../../ui/overlay/Tooltip.tsx'
import { useReplayed, useTaskNow } from './replayContext.ts'
import { DeleteQuestion } from '../deletions/DeleteQuestion.tsx'
import { PullRequestLink } from '../tasks/PullRequestLink.tsx'
import { isRecordDamaged, shownStatusOf } from '../tasks/taskStatus.ts'
import { texts as taskTexts } from '../tasks/texts.ts'
import { ellipsisButton } from './ellipsisButton.tsx'
import { texts as forkTexts } from './fork/headerTexts.ts'
import { texts } from './texts.ts'
import { useCopy } from './useCopy.ts'
import { useTaskActions } from './useTaskActions.ts'

const PullRequestDialog = optionalPart(
  async () => (await import('./PullRequestDialog.tsx')).PullRequestDialog,
)

export function TaskHeader({ task }: { readonly task: Task }) {
  const copy = useCopy()
  const navigate = useNavigate()
  const actions = useTaskActions(task)
  const [deleting, setDeleting] = useState(false)
  /**
   * Whether the pull request dialog is open; `null` before it is first opened. From then on, its chunk is loaded and it stays mounted to keep the
   * input.
   */
  const [isPullRequestOpen, setPullRequestOpen] = useState<boolean | null>(null)
  const isReplayed = useReplayed() !== null
  // A replay shows the past, and nothing can be added to a task whose event stream is damaged.
  const isReadOnly = isReplayed || isRecordDamaged(task)
  const running = isActive(shownStatus(task))
  const stoppable = running && !isReplayed
  const branch = branchOf(task)
  const copyBranch = () => copy(branch, branch)
  const compare = () => void navigate(`/tasks/${task.id}/compare`)
  const items: readonly MenuItem[] = [
    { label: texts.header.compare, icon: Columns2, onChoose: compare },
    { label: texts.header.copyBranch, icon: Copy, onChoose: copyBranch },
    { label: texts.header.delete, icon: Trash2, onChoose: () => setDeleting(true), danger: true },
  ]
  useHeaderActions(task, actions, isReadOnly, () => setPullRequestOpen(true))
  useAction('copyBranch', copyBranch)
  useAction('compareTask', compare, !isReplayed)
  useAction('deleteTask', () => setDeleting(true), !isReplayed)
  return (
    <section
      aria-label={texts.header.label}
      // Below 768 pixels, the line below the title gets the full width.
      className="relative grid flex-none grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-1 border-b border-line bg-panel px-2 pb-0.5 md:flex md:h-15 md:gap-3 md:px-4 md:py-0"
    >
      <BackLink />
      <span className="hidden md:contents">
        <AgentMark agent={task.agent} />
      </span>
      <div className="contents min-w-0 flex-1 md:block">
        <h1 dir="auto" className="truncate text-title/5 font-semibold md:text-title" title={task.title}>
          {task.title}
        </h1>
        <Meta task={task} />
      </div>
      <span className="hidden md:inline-flex">
        <TaskStatus task={task} />
      </span>
      <div className="flex flex-none items-center gap-1 md:ml-2 md:gap-2">
        {stoppable && <CancelButton actions={actions} />}
        {!isReplayed && (
          <>
            {!isReadOnly && (
              <PullRequestButton
                actions={actions}
                isDue={!actions.updates || task.laterWork === true}
                onAsk={() => setPullRequestOpen(true)}
              />
            )}
            <Menu button={ellipsisButton({ label: texts.header.actions })} items={items} />
          </>
        )}
      </div>
      {running && (
        <Progress
          percent={task.progress}
          label={texts.header.progress}
          className="absolute inset-x-0 -bottom-px"
        />
      )}
      {/* The key makes a new dialog, with new input, for another task, and once a pull request was opened, the first or a later one. */}
      {isPullRequestOpen !== null && (
        <Suspense fallback={null}>
          <PullRequestDialog
            key={`${task.id} ${task.prNumber}`}
            task={task}
            open={isPullRequestOpen}
            onClose={() => setPullRequestOpen(false)}
            onMissing={() => setPullRequestOpen(null)}
            onConfirm={actions.openPullRequest}
            refused={actions.refused}
          />
        </Suspense>
      )}
      <DeleteQuestion
        kind="task"
        id={task.id}
        words={texts.delete}
        open={deleting}
        onClose={() => setDeleting(false)}
      />
    </section>
  )
}

type TaskActions = ReturnType<typeof useTaskActions>

/** The actions that cancel or retry the task, or handle its pull request. With `isReadOnly`, only the one that opens the pull request remains. */
function useHeaderActions(task: Task, actions: TaskActions, isReadOnly: boolean, onAsk: () => void): void {
  const isOver = task.status === 'failed' || task.status === 'cancelled'
  const stoppable = isActive(shownStatus(task)) && !isReadOnly
  const href = safeLink(task.prUrl)
  const openPullRequest = () => {
    if (href !== null) window.open(href, '_blank', 'noopener,noreferrer')
  }
  useAction('cancelTask', actions.cancel, stoppable && !actions.cancelling)
  useAction('retryTask', actions.retry, isOver && !actions.retrying && !isReadOnly)
  useAction('createPullRequest', onAsk, !actions.updates && !actions.opening && !isReadOnly)
  useAction('updatePullRequest', onAsk, actions.updates && !actions.opening && !isReadOnly)
  useAction('openPullRequest', openPullRequest, href !== null)
}

function BackLink() {
  return (
    <Tooltip label={texts.back}>
      <Link
        to="/dashboard"
        aria-label={texts.back}
        className="inline-grid size-11 flex-none place-items-center rounded-control text-muted transition-colors hover:bg-raised hover:text-text md:size-8"
      >
        <ArrowLeft />
      </Link>
    </Tooltip>
  )
}

function CancelButton({ actions }: { readonly actions: TaskActions }) {
  return (
    <Button
      icon={<Square className="size-3 fill-current" />}
      busy={actions.cancelling}
      busyLabel={<Word>{texts.header.cancelling}</Word>}
      onClick={actions.cancel}
      className={iconOnPhone}
    >
      <Word>{texts.header.cancel}</Word>
    </Button>
  )
}

interface PullRequestButtonProps {
  readonly actions: TaskActions
  /** Whether there is no open pull request, or work that it does not contain. */
  readonly isDue: boolean
  readonly onAsk: () => void
}

function PullRequestButton({ actions, isDue, onAsk }: PullRequestButtonProps) {
  const { updates, opensNew, opening, waitsUntil } = actions
  const create = opensNew ? texts.header.newPr : texts.header.createPr
  return (
    <CountdownButton
      until={waitsUntil}
      kind={isDue ? 'primary' : 'plain'}
      icon={<GitPullRequest />}
      busy={opening}
      busyLabel={<Word>{updates ? texts.header.updatingPr : texts.header.creatingPr}</Word>}
      onClick={onAsk}
      className={`max-md:h-9! max-md:px-2.5! ${touchArea}`}
    >
      <Word>{updates ? texts.header.updatePr : create}</Word>
      <span className="md:hidden" aria-hidden="true">
        {texts.header.pr}
      </span>
    </CountdownButton>
  )
}

/** Below 768 pixels, `touchArea` makes the area of a button large enough for a finger, and `iconOnPhone` leaves room for the icon only. */
const touchArea = 'relative max-md:before:absolute max-md:before:-inset-1 max-md:before:content-[""]'
const iconOnPhone = `max-md:size-9! max-md:px-0! ${touchArea}`

function Word({ children }: { readonly children: string }) {
  return <span className="max-md:sr-only">{children}</span>
}

/** The branch that is checked out in the workspace. Until that is known, it is the working branch or the branch from which the task starts. */
function branchOf({ currentBranch, workingBranch, branch }: Task): string {
  return currentBranch ?? workingBranch ?? branch
}

/** The status to show: a task whose cancellation was requested is shown as cancelled at once. */
function shownStatus(task: Task): StatusName {
  const status = shownStatusOf(task)
  return isActive(status) && task.execution?.cancelRequested === true ? 'cancelled' : status
}

/** Whether the task is running, even if its agent waits for a person. */
function isActive(status: StatusName): boolean {
  return status === 'running' || status === 'waiting'
}

/** How long the status of a successful command is shown beside the task's status, in milliseconds. */
const commandShownMs = 60_000

/** The task's status with the duration of its turn or running command, and the outcome of an ended command. While offline, the last known values. */
function TaskStatus({ task, small = false }: { readonly task: Task; readonly small?: boolean }) {
  const live = useSelector(selectLive)
  const lost = useSelector(selectLost)
  const { execution } = task
  const status = shownStatus(task)
  const running = isActive(status)
  const isDamaged = status === 'damaged'
  const isCommand = execution?.kind === 'command' && !isDamaged
  const since = execution?.startedAt ?? null
  const until = execution?.endedAt ?? null
  const now = useTaskNow(1_000, live && (running || isCommand))
  const ms =
    since === null || isDamaged ? null : (until === null ? now : Date.parse(until)) - Date.parse(since)
  const outcome = isCommand && until !== null ? execution.outcome : undefined
  const isOld = outcome === 'completed' && now - Date.parse(until ?? '') >= commandShownMs
  const ended = isOld ? undefined : outcome
  const took = ms !== null && (running || until !== null) && (
    <span className="font-normal text-muted">{elapsed(ms)}</span>
  )
  return (
    <span className="inline-flex items-center gap-1">
      {running && lost && <span className="text-meta text-muted">{taskTexts.lastKnown}</span>}
      {isCommand && running && (
        <span className="text-meta text-muted max-md:sr-only">{texts.header.command}</span>
      )}
      {/* A phone has room for one status only: that of the ended command or, without one, that of the task. */}
      {!(small && ended !== undefined) && (
        <Status status={status} progress={task.progress} small={small}>
          {(!isCommand || running) && took}
        </Status>
      )}
      {ended !== undefined && (
        <span className="ml-1.5 inline-flex items-center gap-1 text-meta text-muted">
          <span className="max-md:sr-only">{texts.header.command}</span>
          <Status status={ended} small>
            {took}
          </Status>
        </span>
      )}
    </span>
  )
}

function Meta({ task }: { readonly task: Task }) {
  const { githubOwner, githubRepoName, name } = task.project
  return (
    // The link is higher than the line; the fixed height keeps the line from growing.
    <div className="order-last col-span-3 flex h-4.5 min-w-0 items-center gap-2 px-2 text-meta/4.5 whitespace-nowrap text-muted md:gap-3 md:px-0">
      <span className="inline-flex flex-none md:hidden">
        <AgentMark agent={task.agent} bare />
      </span>
      <span className="inline-flex flex-none md:hidden">
        <TaskStatus task={task} small />
      </span>
      <span className="hidden max-w-1/3 flex-none truncate split:inline">
        {githubRepoName === '' ? name : `${githubOwner}/${githubRepoName}`}
      </span>
      <span className="inline-flex min-w-0 items-center gap-1.25">
        <GitBranch className="size-3 flex-none" />
        <span className="truncate mono" title={branchOf(task)}>
          {branchOf(task)}
        </span>
      </span>
      {task.issue && (
        <a
          href={safeLink(task.issue.url) ?? undefined}
          target="_blank"
          rel="noreferrer"
          className="flex-none text-accent hover:underline"
        >
          {taskTexts.fromIssue(task.issue.number)}
        </a>
      )}
      {task.forkedFrom && (
        <span className="inline-flex min-w-0 items-center gap-1.25">
          {forkTexts.from}
          <Link
            to={`/tasks/${task.forkedFrom.taskId}`}
            dir="auto"
            className="inline-block max-w-60 min-w-6 truncate text-accent hover:underline"
          >
            {task.forkedFrom.title}
          </Link>
        </span>
      )}
      {task.changes !== null && task.changes.files > 0 && (
        <>
          <LineCounts added={task.changes.additions} deleted={task.changes.deletions} />
          <span className="hidden split:inline">{texts.header.files(task.changes.files)}</span>
        </>
      )}
      <PullRequestLink task={task} />
      {task.pullRequest?.unreadable && (
        <span
          role="status"
          className="truncate text-warn"
          title={texts.unreadable[task.pullRequest.unreadable]}
        >
          {texts.unreadable[task.pullRequest.unreadable]}
        </span>
      )}
    </div>
  )
}
