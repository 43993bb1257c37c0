/** The mark of the product. */
import { classes } from './classes.ts'

export function BrandMark({ className }: { readonly className?: string }) {
  return (
    <svg
      className={classes('flex-none', className ?? 'size-4.5')}
      viewBox="0 0 24 24"
      fill="currentColor"
      aria-hidden="true"
    >
      <path d="M12 2.5 20.5 21 12 16.6 3.5 21Z" />
    </svg>
  )
}
