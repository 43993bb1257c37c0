/**
 * A row of a list that is a link as a whole. The link lies over the row, so a second link inside it (a pull request)
 * stays a link of its own: give that one `relative z-10`.
 */
import type { ReactNode } from 'react'
import { Link } from 'react-router-dom'
import { classes } from '../classes.ts'

interface ListRowProps {
  readonly to: string
  /** What the link is called: the row's title. */
  readonly label: string
  readonly children: ReactNode
  readonly className?: string
}

export function ListRow({ to, label, children, className }: ListRowProps) {
  return (
    // A row out of sight costs no layout: lists grow to thousands.
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
