/** The mark and the name of the product, where no top bar has them. */
import { BrandMark } from './BrandMark.tsx'
import { classes } from './classes.ts'

/** The name of the product. */
export const brand = 'Flightdeck'

interface BrandProps {
  /** The mark stands for itself above a form, and is larger. */
  readonly large?: boolean
  readonly className?: string
  /** Leaves the name to what stands beside it. */
  readonly nameClassName?: string
}

export function Brand({ large = false, className, nameClassName }: BrandProps) {
  return (
    <p
      className={classes(
        'flex items-center font-semibold tracking-[-0.012em]',
        large ? 'gap-2.5 text-title' : 'gap-2 text-body',
        className,
      )}
    >
      {large ? <BrandMark className="size-8" /> : <BrandMark />}
      <span className={nameClassName}>{brand}</span>
    </p>
  )
}
