/** A status: an icon and its word in the status colour, on the plain surface. The icon alone keeps a hidden word. */
import { Ban, CircleCheck, CircleDashed, CircleX, Clock, FileWarning } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from '../classes.ts'

/** Statuses of tasks and commands; `damaged` is for a task with a damaged stream. */
export type StatusName = 'pending' | 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'damaged'

interface StatusProps {
  readonly status: StatusName
  /** Percent, for the ring of a running task. */
  readonly progress?: number | undefined
  /** Only the icon is visible; for chat heads and tool rows. */
  readonly iconOnly?: boolean
  /** The caller's text replaces the word of the status. */
  readonly wordHidden?: boolean
  readonly small?: boolean
  /** Shown after the word: an elapsed time. */
  readonly children?: ReactNode
}

const words: Record<StatusName, string> = {
  pending: 'Pending',
  queued: 'Queued',
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  damaged: 'Record damaged',
}
const colours: Record<StatusName, string> = {
  pending: 'text-warn',
  queued: 'text-muted',
  running: 'text-run',
  completed: 'text-ok',
  failed: 'text-bad',
  cancelled: 'text-muted',
  damaged: 'text-bad',
}

export function Status({
  status,
  progress,
  iconOnly = false,
  wordHidden = false,
  small = false,
  children,
}: StatusProps) {
  return (
    <span
      data-status={status}
      className={classes(
        'inline-flex items-center gap-1.5 font-medium whitespace-nowrap',
        small ? 'text-meta' : 'text-ui',
        colours[status],
      )}
    >
      <StatusIcon status={status} progress={progress} small={small || iconOnly} />
      {!wordHidden && <span className={iconOnly ? 'sr-only' : undefined}>{words[status]}</span>}
      {children}
    </span>
  )
}

function StatusIcon({ status, progress, small }: Pick<StatusProps, 'status' | 'progress' | 'small'>) {
  const size = small ? 'size-3.5' : ''
  switch (status) {
    case 'pending':
      return <CircleDashed className={size} />
    case 'queued':
      return <Clock className={size} />
    case 'running':
      return progress === undefined ? <Ring className={size} /> : <Ring percent={progress} className={size} />
    case 'completed':
      return <CircleCheck className={size} />
    case 'failed':
      return <CircleX className={size} />
    case 'cancelled':
      return <Ban className={size} />
    case 'damaged':
      return <FileWarning className={size} />
  }
}

/** The ring of a running task: filled to a percentage, without animation; a quarter when the progress is unknown. */
const circumference = 2 * Math.PI * 9

export function Ring({
  percent = 25,
  className,
}: {
  readonly percent?: number
  readonly className?: string
}) {
  const filled = (Math.max(0, Math.min(percent, 100)) / 100) * circumference
  return (
    <svg
      className={classes('size-4 flex-none', className)}
      viewBox="0 0 24 24"
      fill="none"
      strokeWidth="2.4"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <circle cx="12" cy="12" r="9" className="stroke-line" />
      <circle
        cx="12"
        cy="12"
        r="9"
        stroke="currentColor"
        transform="rotate(-90 12 12)"
        strokeDasharray={`${filled.toFixed(1)} ${circumference.toFixed(1)}`}
        opacity={filled > 0 ? 1 : 0}
      />
    </svg>
  )
}
