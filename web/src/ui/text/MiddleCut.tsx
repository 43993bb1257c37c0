/** Truncates a name in the middle when space is short, because branch names differ at the end. Short names are truncated at the end. */
import { classes } from '../classes.ts'

const tailLength = 10

export function MiddleCut({ children }: { readonly children: string }) {
  const cut = children.length > 2 * tailLength ? children.length - tailLength : 0
  return (
    <span className="flex min-w-0" title={children}>
      {/* Without room for both parts, the last part is truncated too. */}
      <span className="truncate">{children.slice(0, cut)}</span>
      <span
        className={classes(
          'overflow-hidden text-ellipsis whitespace-pre',
          cut > 0 && 'max-w-[calc(100%-1.5em)] flex-none',
        )}
      >
        {children.slice(cut)}
      </span>
    </span>
  )
}
