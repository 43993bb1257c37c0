/** A surface with a hairline around it. A panel never holds a panel: divide with `border-line-soft` instead. */
import type { ReactNode } from 'react'
import { classes } from '../classes.ts'

interface PanelProps {
  readonly children: ReactNode
  readonly className?: string
  /** The accessible name of the region, if it is one. */
  readonly label?: string
}

export function Panel({ children, className, label }: PanelProps) {
  return (
    <section aria-label={label} className={classes('rounded-panel border border-line bg-panel', className)}>
      {children}
    </section>
  )
}
