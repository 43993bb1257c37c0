/** A button with a word. Busy means disabled, with a spinner and the busy word, at the same width: nothing beside it moves. */
import type { ComponentProps, ReactNode } from 'react'
import { buttonStyle, type ButtonKind, type ButtonSize } from './buttonStyle.ts'
import { classes } from './classes.ts'
import { Spinner } from './Spinner.tsx'

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: ButtonKind
  readonly size?: ButtonSize
  readonly icon?: ReactNode
  readonly busy?: boolean
  /** What the button says while busy; its own word when left out. */
  readonly busyLabel?: ReactNode
  /** Marks the safe button of a dialog. */
  readonly 'data-safe'?: boolean
}

export function Button({
  kind = 'plain',
  size = 'normal',
  type = 'button',
  icon,
  busy = false,
  busyLabel,
  disabled = false,
  className,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type === 'submit' ? 'submit' : 'button'}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={classes(buttonStyle(kind, size), className)}
    >
      {busyLabel === undefined ? (
        <Face icon={busy ? <Spinner /> : icon}>{children}</Face>
      ) : (
        <span className="grid">
          <Face icon={icon} hidden={busy}>
            {children}
          </Face>
          <Face icon={<Spinner />} hidden={!busy}>
            {busyLabel}
          </Face>
        </span>
      )}
    </button>
  )
}

/** One of the two faces of a button, in the same place; the hidden one still takes its width. */
function Face({
  icon,
  hidden = false,
  children,
}: {
  icon: ReactNode
  hidden?: boolean
  children: ReactNode
}) {
  return (
    <span
      aria-hidden={hidden || undefined}
      className={classes(
        'col-start-1 row-start-1 inline-flex items-center justify-center gap-1.5',
        hidden && 'invisible',
      )}
    >
      {icon}
      {children}
    </span>
  )
}
