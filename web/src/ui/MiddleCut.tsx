/** A name that loses its middle when there is no room: its end tells it apart. */
import { classes } from './classes.ts'

const tailLength = 10

export function MiddleCut({ children }: { readonly children: string }) {
  const cut = Math.max(0, children.length - tailLength)
  return (
    <span className="flex min-w-0" title={children}>
      {/* Its end is cut too where there is no room even for that. */}
      <span className={classes('shrink-1000 truncate', cut > 0 && 'min-w-[1.5em]')}>
        {children.slice(0, cut)}
      </span>
      <span className="min-w-0 overflow-hidden text-ellipsis whitespace-pre">{children.slice(cut)}</span>
    </span>
  )
}
