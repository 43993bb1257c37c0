/** How a button looks, shared by `Button`, `ButtonLink` and `IconButton`. */
import { classes } from './classes.ts'

/** `primary`: the one button of a view. `danger`: plain with a red word; `danger-filled` only in a dialog that asks. */
export type ButtonKind = 'primary' | 'plain' | 'ghost' | 'danger' | 'danger-filled'
/** 28, 32 and 40 px high; the touch height of 44 below 768 px is for `large` and `touch` buttons. */
export type ButtonSize = 'small' | 'normal' | 'large' | 'touch'

const kinds: Record<ButtonKind, string> = {
  primary:
    'border-accent bg-accent text-on-accent enabled:hover:border-accent-hover enabled:hover:bg-accent-hover [a&]:hover:bg-accent-hover enabled:active:brightness-95',
  plain: 'border-line bg-panel [&_svg]:text-muted hover:border-control hover:bg-raised active:bg-line-soft',
  ghost: 'border-transparent text-muted hover:bg-raised hover:text-text active:bg-line-soft',
  danger: 'border-line bg-panel text-bad hover:border-control hover:bg-raised active:bg-line-soft',
  'danger-filled': 'border-bad bg-bad text-panel hover:brightness-110 active:brightness-95',
}
const sizes: Record<ButtonSize, string> = {
  small: 'h-7 px-2.5 text-ui',
  normal: 'h-8 px-3 text-ui',
  large: 'h-11 px-4 text-body md:h-10',
  touch: 'h-11 px-3 text-ui md:h-8',
}

/** The classes of a button; disabled ones go grey whatever their kind. */
export function buttonStyle(kind: ButtonKind, size: ButtonSize): string {
  return classes(
    'inline-flex flex-none items-center justify-center gap-1.5 rounded-control border font-medium whitespace-nowrap transition-colors',
    'disabled:cursor-not-allowed disabled:border-line disabled:bg-raised disabled:text-muted',
    kinds[kind],
    sizes[size],
  )
}
