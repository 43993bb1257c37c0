/** A button with only an icon: its name is for assistive technology and the tooltip, which may add a shortcut. */
import type { ComponentProps } from 'react'
import type { LucideIcon } from 'lucide-react'
import { buttonStyle, type ButtonKind } from './Button.tsx'
import { classes } from '../classes.ts'
import { KeyCap } from '../text/KeyCap.tsx'
import { Spinner } from '../status/Loading.tsx'
import { Tooltip } from '../overlay/Tooltip.tsx'

/** `row` is 24 px, for dense rows; `small` is 28 px and `normal` 32 px. Below 768 px, `row` is 32 px and the others are 44 px. */
type IconButtonSize = 'row' | 'small' | 'normal'

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'aria-label' | 'title' | 'children'> {
  readonly label: string
  readonly icon: LucideIcon
  readonly kind?: ButtonKind
  readonly size?: IconButtonSize
  /** The keys that do the same as the button, for the tooltip: `Ctrl Shift M`. */
  readonly shortcut?: string
  readonly busy?: boolean
}

const sizes: Record<IconButtonSize, string> = {
  row: 'size-8 md:size-6 [&_svg]:size-3.5',
  small: 'size-11! md:size-7!',
  normal: 'size-11! md:size-8!',
}

export function IconButton({
  label,
  icon: Icon,
  kind = 'ghost',
  size = 'normal',
  shortcut,
  busy = false,
  disabled = false,
  className,
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip
      label={
        <>
          {label}
          {shortcut !== undefined && <KeyCap>{shortcut}</KeyCap>}
        </>
      }
    >
      <button
        {...rest}
        type="button"
        aria-label={label}
        aria-busy={busy || undefined}
        disabled={disabled || busy}
        className={classes(buttonStyle(kind, 'normal'), 'px-0!', sizes[size], className)}
      >
        {busy ? <Spinner /> : <Icon />}
      </button>
    </Tooltip>
  )
}
