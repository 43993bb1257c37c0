/** The kind of change of a file, as a letter in a frame. */
import type { ChangedFile } from '#domain/api/tasks.schema.ts'
import { classes } from '../../../ui/classes.ts'
import { texts } from './texts.ts'

const letters = { added: 'A', untracked: 'U', modified: 'M', deleted: 'D', renamed: 'R' } as const
const colours = {
  added: 'text-ok',
  untracked: 'text-ok',
  modified: 'text-warn',
  deleted: 'text-bad',
  renamed: 'text-run',
} as const

export function FileBadge({ status }: { readonly status: ChangedFile['status'] }) {
  return (
    <span
      role="img"
      aria-label={texts.statuses[status]}
      title={texts.statuses[status]}
      className={classes(
        'inline-grid size-4 flex-none place-items-center rounded-[3px] border border-current font-mono text-[10px] leading-none font-semibold',
        colours[status],
      )}
    >
      {letters[status]}
    </span>
  )
}
