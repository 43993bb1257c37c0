/**
 * A list row that is a link as a whole. The link covers the row; to keep another link inside it (a pull request) usable, give that one `relative
 * z-10`.
 */
import type { ReactNode } from 'react'
import { Link } from 'react-router-dom'
import { classes } from '../classes.ts'

interface ListRowProps {
  readonly to: string
  /** The accessible name of the link: the row's title. */
  readonly label: string
  readonly children: ReactNode
  readonly className?: string
}

export function ListRow({ to, label, children, className }: ListRowProps) {
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
