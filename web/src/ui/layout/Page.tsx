/** A page that scrolls as a whole, with its width, its gutters and its title. The title is 48 px below the top bar, on a phone 24 px. */
import type { ReactNode } from 'react'
import { classes } from '../classes.ts'

interface PageProps {
  readonly title: string
  /** Without the gutters, the three widths are 720, 1040 and 1120 px. */
  readonly width: 'narrow' | 'normal' | 'wide'
  /** Shown above the title, on pages without a top bar. */
  readonly above?: ReactNode
  /** Shown below the title, and on a phone above the actions. */
  readonly lead?: ReactNode
  /** Shown beside the title, at the right. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

const widths = { narrow: 'max-w-192', normal: 'max-w-272', wide: 'max-w-292' } as const

export function Page({ title, width, above, lead, actions, children }: PageProps) {
  return (
    <div className={classes('mx-auto w-full px-4 pt-6 pb-12 md:px-6 md:pt-12 md:pb-16', widths[width])}>
      {above}
      <div
        className={classes(
          'flex flex-wrap items-start gap-x-3 gap-y-3',
          lead === undefined ? 'mb-4' : 'mb-6',
        )}
      >
        <h1
          title={title}
          className="line-clamp-3 min-w-0 flex-1 basis-60 text-page font-semibold wrap-anywhere"
        >
          {title}
        </h1>
        {lead !== undefined && <div className="-mt-1 w-full md:order-last">{lead}</div>}
        {actions}
      </div>
      {children}
    </div>
  )
}
