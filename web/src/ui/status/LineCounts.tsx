/** The numbers of added and deleted lines: `+267 −33`, with a real minus sign, and without zeros. Renders nothing when nothing changed. */
import { classes } from '../classes.ts'

interface LineCountsProps {
  readonly added: number
  readonly deleted: number
  readonly small?: boolean
}

export function LineCounts({ added, deleted, small = false }: LineCountsProps) {
  if (added === 0 && deleted === 0) return null
  return (
    <span
      className={classes(
        'inline-flex gap-1.5 font-mono tracking-normal whitespace-nowrap',
        small ? 'text-tiny' : 'text-meta',
      )}
    >
      {added > 0 && (
        <span className="text-ok">
          <span aria-hidden="true">+{added}</span>
          <span className="sr-only">{added} added</span>
        </span>
      )}
      {deleted > 0 && (
        <span className="text-bad">
          <span aria-hidden="true">−{deleted}</span>
          <span className="sr-only">{deleted} deleted</span>
        </span>
      )}
    </span>
  )
}
