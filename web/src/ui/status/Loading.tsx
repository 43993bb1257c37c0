/** The whole page waits: for the user, or for the page's own code. */
import { classes } from '../classes.ts'

export function PageSpinner({ label = 'Loading...' }: { readonly label?: string }) {
  return (
    <div role="status" className="grid min-h-[60vh] place-items-center text-muted">
      <span className="inline-flex items-center gap-2.5">
        <Spinner size={16} />
        {label}
      </span>
    </div>
  )
}

/** A ring that turns: for a button that works and for a page whose user is not known yet, never in a row. */
export function Spinner({ size = 14 }: { readonly size?: number }) {
  return (
    <svg
      className="flex-none animate-spin"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      aria-hidden="true"
    >
      <circle cx="12" cy="12" r="9" stroke="currentColor" strokeWidth="2.4" opacity="0.25" />
      <path d="M21 12a9 9 0 0 0-9-9" stroke="currentColor" strokeWidth="2.4" strokeLinecap="round" />
    </svg>
  )
}

/** The flat shape of what is coming, at its height; say what it is in a `role="status"` around the set. */
export function Skeleton({ className }: { readonly className: string }) {
  return <span aria-hidden="true" className={classes('block rounded-badge bg-raised', className)} />
}
