/** The running ring: filled to a percentage, still. A quarter when how far it is is not known. */
import { classes } from './classes.ts'

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
