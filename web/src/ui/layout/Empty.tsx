/** Shown instead of content that is missing or empty: a title, a sentence, and usually one button. */
import type { ReactNode } from 'react'
import { classes } from '../classes.ts'

interface EmptyProps {
  readonly title: string
  /** The level of the title; `h1` when the page shows nothing else. */
  readonly heading?: 'h1' | 'h2'
  readonly children?: ReactNode
  readonly action?: ReactNode
  readonly className?: string
}

export function Empty({ title, heading: Heading = 'h2', children, action, className }: EmptyProps) {
  return (
    <div className={classes('flex flex-col items-start gap-1 p-4', className)}>
      <Heading className="text-body font-semibold">{title}</Heading>
      {children !== undefined && <p className="max-w-[62ch] text-muted">{children}</p>}
      {action !== undefined && action !== false && <div className="mt-3">{action}</div>}
    </div>
  )
}
