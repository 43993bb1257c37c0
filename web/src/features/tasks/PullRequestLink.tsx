/** A link to a task's pull request: its number, and its state, review and checks as icons. */
import { Check, CircleCheck, CircleDashed, CircleX, Clock, GitPullRequest, Pencil } from 'lucide-react'
import type { Task } from '#domain/api/tasks.schema.ts'
import { classes } from '../../ui/classes.ts'
import { safeLink } from '../../ui/text/safeLink.ts'
import { texts } from './texts.ts'

// Other parts of lists use these icons too, so pages need not load further icons.
const [good, bad, waiting] = [
  [CircleCheck, 'text-ok'],
  [CircleX, 'text-bad'],
  [CircleDashed, 'text-warn'],
] as const
const styles = {
  open: [GitPullRequest, 'text-ok'],
  draft: [CircleDashed, 'text-muted'],
  merged: [CircleCheck, 'text-accent'],
  closed: bad,
} as const
/** Reviews and checks have no icon in common, so that the two cannot be confused. */
const verdicts = {
  Approved: [Check, 'text-ok'],
  'Changes requested': [Pencil, 'text-bad'],
  'Review required': [Clock, 'text-warn'],
  'Checks passing': good,
  'Checks failing': bad,
  'Checks pending': waiting,
} as const
const reviews = {
  approved: 'Approved',
  changes_requested: 'Changes requested',
  required: 'Review required',
} as const
const unknown = [GitPullRequest, 'text-accent'] as const

interface PullRequestLinkProps {
  readonly task: Pick<Task, 'prUrl' | 'prNumber' | 'pullRequest'>
  readonly className?: string
}

export function PullRequestLink({ task: { prUrl, prNumber, pullRequest }, className }: PullRequestLinkProps) {
  const href = safeLink(prUrl)
  if (href === null || prNumber === null) return null
  const state = pullRequest?.state ?? null
  const [Icon, colour] = state === null ? unknown : styles[state]
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      aria-label={texts.pullRequest(prNumber, state && texts.states[state])}
      className={classes(
        'inline-flex h-6 min-w-6 flex-none items-center gap-1 text-meta whitespace-nowrap hover:underline',
        colour,
        className,
      )}
    >
      <Icon className="size-3.5" />#{prNumber}
      {state !== null && <span>{texts.states[state]}</span>}
      <Verdicts standing={pullRequest?.standing} />
    </a>
  )
}

/** The results of the pull request's reviews and checks, as icons with words for assistive technology. */
function Verdicts({ standing }: { readonly standing: NonNullable<Task['pullRequest']>['standing'] }) {
  const { review, checks } = standing ?? {}
  return [review && reviews[review], checks && (`Checks ${checks.state}` as const)].map((words) => {
    if (!words) return null
    const [Icon, colour] = verdicts[words]
    return (
      <span key={words} title={words} className={colour}>
        <Icon className="size-3.5" />
        <span className="sr-only">{words}</span>
      </span>
    )
  })
}

/** Whether the pull request is known to be merged or closed. */
export function isPullRequestOver({ pullRequest }: Pick<Task, 'pullRequest'>): boolean {
  return pullRequest?.state === 'merged' || pullRequest?.state === 'closed'
}
