/** Loading states: a spinner for a whole page, a small spinner, and placeholders for content. */
import { classes } from '../classes.ts'

/** Fills a page while the user, the page's code or its data is loading. */
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

/** A spinner, for example in a busy button or beside a word while a page is loading. It is not meant for the rows of a list. */
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

/** A placeholder with the height of the coming content; put an element with `role="status"` and a description around all placeholders. */
export function Skeleton({ className }: { readonly className: string }) {
  return <span aria-hidden="true" className={classes('block rounded-badge bg-raised', className)} />
}

interface SkeletonsProps {
  /** What is loading, for assistive technology. */
  readonly label: string
  /** The classes of each placeholder: its margins, height and width. */
  readonly each: readonly string[]
  readonly className?: string
}

/** A column of placeholders with their description. */
export function Skeletons({ label, each, className }: SkeletonsProps) {
  return (
    <div role="status" className={className}>
      <span className="sr-only">{label}</span>
      {each.map((shape, index) => (
        <Skeleton key={index} className={shape} />
      ))}
    </div>
  )
}
