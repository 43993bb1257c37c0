/** A task in a list: its status, description, agent, repository and branch, changes, pull request, and a time. */
import { memo, type ReactNode } from 'react'
import { useSelector } from 'react-redux'
import { Link } from 'react-router-dom'
import type { Task } from '#domain/api/tasks.schema.ts'
import { selectLost } from '../../live/connection.ts'
import { AgentMark } from '../../ui/AgentMark.tsx'
import { classes } from '../../ui/classes.ts'
import { LineCounts } from '../../ui/status/LineCounts.tsx'
import { Progress } from '../../ui/status/Progress.tsx'
import { Status } from '../../ui/status/Status.tsx'
import { isRunning, shownStatusOf } from './taskStatus.ts'
import { PullRequestLink } from './PullRequestLink.tsx'
import { texts } from './texts.ts'

interface TaskRowProps {
  readonly task: Task
  /** The text of the last column: a date or an age. */
  readonly when: string
  /** Whether the row is on the page of its project, which names the repository already. */
  readonly ofProject?: boolean
}

/** Memoized, because lists have up to thousands of rows. */
export const TaskRow = memo(function TaskRow({ task, when, ofProject = false }: TaskRowProps) {
  return (
    <ListRow
      to={`/tasks/${task.id}`}
      label={task.title}
      className="grid min-h-15 grid-cols-[minmax(0,1fr)_auto_auto] items-center gap-x-3 gap-y-1.5 px-4 py-2.5 md:grid-cols-[124px_minmax(0,1fr)_96px_104px_52px] md:gap-x-4 md:gap-y-1 wide:grid-cols-[124px_minmax(0,1fr)_272px_84px_104px_52px]"
    >
      {isRunning(task) && task.waitingFor === null ? (
        <Running task={task} />
      ) : (
        // In a narrow column the words of the status wrap.
        <div className={classes(statusCell, '*:leading-4 md:*:whitespace-normal')}>
          <Status status={shownStatusOf(task)} />
        </div>
      )}
      <p
        dir="auto"
        title={task.issue && texts.fromIssue(task.issue.number)}
        className="order-1 col-span-3 line-clamp-2 font-medium text-pretty wrap-anywhere md:order-none md:col-span-1"
      >
        {task.issue ? `#${task.issue.number} ${task.title}` : task.description}
      </p>
      <Origin task={task} ofProject={ofProject} />
      <div className="order-6 flex justify-end md:order-none">
        <Changes task={task} />
      </div>
      <div className="order-5 flex md:order-none">
        <PullRequestLink task={task} className="relative z-10" />
      </div>
      <time
        dateTime={task.createdAt}
        className="order-3 self-start text-right text-meta text-muted md:order-none md:self-center"
      >
        {when}
      </time>
    </ListRow>
  )
})

const statusCell = 'order-4 flex items-center gap-x-1 md:order-none md:grid md:self-start wide:self-center'

function Running({ task }: { readonly task: Task }) {
  const lost = useSelector(selectLost)
  return (
    <div className={statusCell}>
      {lost && <span className="text-meta/4 text-muted">{texts.lastKnown}</span>}
      <Status status="running" progress={task.progress} />
      {!lost && (
        <Progress percent={task.progress} label={texts.progress} className="absolute inset-x-0 -bottom-px" />
      )}
    </div>
  )
}

/** The agent, the repository and the branch. */
function Origin({ task, ofProject }: Required<Pick<TaskRowProps, 'task' | 'ofProject'>>) {
  const { githubOwner, githubRepoName, name } = task.project
  const repository = githubRepoName === '' ? name : `${githubOwner}/${githubRepoName}`
  return (
    <div
      className={classes(
        'order-2 col-span-2 grid min-w-0 grid-cols-[20px_minmax(0,1fr)] items-center gap-x-2.5 gap-y-0.5 text-meta/4.5 md:order-last md:col-span-4 md:col-start-2 wide:order-none wide:col-span-1 wide:col-start-auto',
        !ofProject && 'md:grid-cols-[20px_auto_minmax(0,1fr)] wide:grid-cols-[20px_minmax(0,1fr)]',
      )}
    >
      <AgentMark agent={task.agent} className={ofProject ? '' : 'row-span-2 md:row-span-1 wide:row-span-2'} />
      {!ofProject && (
        <span className="truncate" title={repository}>
          {repository}
        </span>
      )}
      <span className="truncate mono text-muted" title={task.workingBranch ?? task.branch}>
        {/* The usual prefix of working branches is left out. */}
        {(task.workingBranch ?? task.branch).replace(/^flightdeck\//, '')}
      </span>
    </div>
  )
}

function Changes({ task }: { readonly task: Task }) {
  if (task.changes === null) return null
  const { additions, deletions } = task.changes
  return additions === 0 && deletions === 0 ? (
    <span className="text-meta text-muted">{texts.noChanges}</span>
  ) : (
    <LineCounts added={additions} deleted={deletions} />
  )
}

interface ListRowProps {
  readonly to: string
  /** The accessible name of the link: the row's title. */
  readonly label: string
  readonly children: ReactNode
  readonly className?: string
}

/**
 * A list row that is a link as a whole. The link covers the row; another link inside the row, such as to a pull request, needs `relative z-10` to
 * stay usable.
 */
function ListRow({ to, label, children, className }: ListRowProps) {
  return (
    // Rows out of view cost no layout, since lists grow to thousands.
    <li className="relative [contain-intrinsic-height:auto_61px] [content-visibility:auto] border-b border-line-soft transition-colors first:rounded-t-[9px] last:rounded-b-[9px] last:border-b-0 hover:bg-raised">
      <Link to={to} aria-label={label} className="focus-inset absolute inset-0 rounded-[inherit]" />
      <div
        className={classes(
          'pointer-events-none [&_a]:pointer-events-auto [&_button]:pointer-events-auto',
          className,
        )}
      >
        {children}
      </div>
    </li>
  )
}
