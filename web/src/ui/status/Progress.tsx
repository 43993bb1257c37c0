/** A progress bar, 2 px high, for example of a running task or an upload. */
import { classes } from '../classes.ts'

interface ProgressProps {
  readonly percent: number
  readonly label: string
  readonly className?: string
}

export function Progress({ percent, label, className }: ProgressProps) {
  const rounded = Math.round(Math.max(0, Math.min(percent, 100)))
  return (
    <span
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={rounded}
      className={classes('block h-0.5 overflow-hidden', className)}
    >
      <span
        className="block h-full bg-run transition-[width] duration-200"
        style={{ width: `${rounded}%` }}
      />
    </span>
  )
}
