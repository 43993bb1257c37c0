/**
 * Truncates a name in the middle when space is short, because branch names differ at the end. Short names and those with
 * right-to-left letters are truncated at the end.
 */
import { classes } from '../classes.ts'

const tailLength = 10
/** Right-to-left letters: of two parts beside each other, the second would be read first. */
const rightToLeft = /[\u0590-\u08ff]/

export function MiddleCut({ children }: { readonly children: string }) {
  const isLong = children.length > 2 * tailLength
  const cut = isLong && !rightToLeft.test(children) ? children.length - tailLength : 0
  return (
    <span dir="auto" className="flex min-w-0" title={children}>
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
