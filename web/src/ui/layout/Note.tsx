/** A box with a problem or a hint, shown at the part of the page that it is about. */
import { CircleAlert, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from '../classes.ts'

interface NoteProps {
  readonly kind: 'error' | 'warning'
  readonly children: ReactNode
  /** A button that helps to solve the problem. */
  readonly action?: ReactNode
  readonly className?: string
}

export function Note({ kind, children, action, className }: NoteProps) {
  const Icon = kind === 'error' ? CircleAlert : TriangleAlert
  return (
    <div
      role={kind === 'error' ? 'alert' : 'status'}
      className={classes(
        'flex gap-2.5 rounded-control border px-3 py-2.5 text-ui',
        kind === 'error' ? 'border-bad bg-del-bg' : 'border-warn bg-warn-bg',
        // Without enough width, the button is below the text.
        action === undefined ? 'items-start' : 'flex-wrap items-center',
        className,
      )}
    >
      <Icon
        className={classes(action === undefined && 'mt-0.5', kind === 'error' ? 'text-bad' : 'text-warn')}
      />
      <div className={classes('min-w-0 flex-1 wrap-anywhere', action !== undefined && 'basis-50')}>
        {children}
      </div>
      {action !== undefined && <span className="ml-auto flex-none">{action}</span>}
    </div>
  )
}
