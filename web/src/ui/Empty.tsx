/** What stands where a list would be when it is empty: a title, a sentence, at most one button. */
import type { ReactNode } from 'react'
import { classes } from './classes.ts'

interface EmptyProps {
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
  readonly className?: string
}

export function Empty({ title, children, action, className }: EmptyProps) {
  return (
    <div className={classes('flex flex-col items-start gap-1 p-4', className)}>
      <h3 className="text-body font-semibold">{title}</h3>
      {children !== undefined && <p className="max-w-[62ch] text-muted">{children}</p>}
      {action !== undefined && <div className="mt-3">{action}</div>}
    </div>
  )
}
