/** The flat shape of what is coming, at its height; say what it is in a `role="status"` around the set. */
import { classes } from './classes.ts'

export function Skeleton({ className }: { readonly className: string }) {
  return <span aria-hidden="true" className={classes('block rounded-badge bg-raised', className)} />
}
