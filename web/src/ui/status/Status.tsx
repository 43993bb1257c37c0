/** A status: an icon and its word in the status colour, on the plain surface. An icon shown alone keeps its word for assistive technology. */
import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleQuestionMark,
  CircleX,
  Clock,
  FileWarning,
  type LucideIcon,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from '../classes.ts'

/** Statuses of tasks and commands. `waiting`: the task runs while its agent waits for a person. `damaged`: the task's own stream is damaged. */
export type StatusName =
  | 'pending'
  | 'queued'
  | 'running'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'damaged'

interface StatusProps {
  readonly status: StatusName
  /** The progress in percent, for the ring of a running task. */
  readonly progress?: number | undefined
  /** Shows only the icon, as in chat heads and tool rows. */
  readonly iconOnly?: boolean
  /** Hides the word, because the caller shows a text of its own. */
  readonly wordHidden?: boolean
  readonly small?: boolean
  /** Shown after the word, such as an elapsed time. */
  readonly children?: ReactNode
}

/** The word, the colour and the icon of each status; the icon of a running task is a ring. */
const styles: Record<StatusName, readonly [word: string, colour: string, Icon: LucideIcon | null]> = {
  pending: ['Pending', 'text-warn', CircleDashed],
  queued: ['Queued', 'text-muted', Clock],
  running: ['Running', 'text-run', null],
  waiting: ['Waiting for you', 'text-warn', CircleQuestionMark],
  completed: ['Completed', 'text-ok', CircleCheck],
  failed: ['Failed', 'text-bad', CircleX],
  cancelled: ['Cancelled', 'text-muted', Ban],
  damaged: ['Record damaged', 'text-bad', FileWarning],
}

export function Status({
  status,
  progress,
  iconOnly = false,
  wordHidden = false,
  small = false,
  children,
}: StatusProps) {
  const [word, colour, Icon] = styles[status]
  const size = small || iconOnly ? 'size-3.5' : ''
  return (
    <span
      data-status={status}
      className={classes(
        'inline-flex items-center gap-1.5 font-medium whitespace-nowrap',
        small ? 'text-meta' : 'text-ui',
        colour,
      )}
    >
      {Icon === null ? <Ring percent={progress} className={size} /> : <Icon className={size} />}
      {!wordHidden && <span className={iconOnly ? 'sr-only' : undefined}>{word}</span>}
      {children}
    </span>
  )
}

const circumference = 2 * Math.PI * 9

interface RingProps {
  readonly percent?: number | undefined
  readonly className: string
}

/** The ring of a running task: filled to a percentage, without animation. A quarter is filled when the progress is unknown. */
export function Ring({ percent = 25, className }: RingProps) {
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
