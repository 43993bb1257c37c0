/**
 * Buttons with a word, and links that look like them. A busy button shows a spinner; with a `busyLabel` it keeps its width, so that nothing beside it
 * moves.
 */
import type { ComponentProps, ReactNode } from 'react'
import { Link } from 'react-router-dom'
import { classes } from '../classes.ts'
import { Spinner } from '../status/Loading.tsx'

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: ButtonKind
  readonly size?: ButtonSize
  readonly icon?: ReactNode
  readonly busy?: boolean
  /** The label while the button is busy; the usual label by default. */
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

/** The normal or the busy face of a button, both in the same place; the hidden one still takes up its width. */
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

interface ButtonLinkProps {
  readonly to: string
  readonly kind?: ButtonKind
  readonly size?: ButtonSize
  readonly icon?: ReactNode
  /** Whether the link leads to another site, which opens in a new tab. */
  readonly outside?: boolean
  /** The accessible name of the link, when several links have the same word. */
  readonly label?: string
  readonly className?: string
  readonly children: ReactNode
}

/** A link that looks like a button. Uses the router within the product, and opens other sites in a new tab. */
export function ButtonLink({
  to,
  kind = 'plain',
  size = 'normal',
  icon,
  outside = false,
  label,
  className,
  children,
}: ButtonLinkProps) {
  const style = classes(buttonStyle(kind, size), className)
  return outside ? (
    <a className={style} href={to} target="_blank" rel="noreferrer" aria-label={label}>
      {icon}
      {children}
    </a>
  ) : (
    <Link className={style} to={to} aria-label={label}>
      {icon}
      {children}
    </Link>
  )
}

/**
 * `primary` is for the one main button of a view. `danger` is plain with a red word; `danger-filled` is only for dialogs that ask for confirmation.
 */
export type ButtonKind = 'primary' | 'plain' | 'ghost' | 'danger' | 'danger-filled'
/** `small` is 28 px high, `normal` and `touch` 32, `large` 40. Below 768 px, `touch`, `large` and the clickable area of `small` are 44 px high. */
type ButtonSize = 'small' | 'normal' | 'large' | 'touch'

const kinds: Record<ButtonKind, string> = {
  primary:
    'border-accent bg-accent text-on-accent enabled:hover:border-accent-hover enabled:hover:bg-accent-hover [a&]:hover:bg-accent-hover enabled:active:brightness-95',
  plain: 'border-line bg-panel [&_svg]:text-muted hover:border-control hover:bg-raised active:bg-line-soft',
  ghost: 'border-transparent text-muted hover:bg-raised hover:text-text active:bg-line-soft',
  danger: 'border-line bg-panel text-bad hover:border-control hover:bg-raised active:bg-line-soft',
  'danger-filled': 'border-bad bg-bad text-panel hover:brightness-110 active:brightness-95',
}
const sizes: Record<ButtonSize, string> = {
  // Below 768 px, 8 px above and below the button can be clicked as well; the distance is counted from inside the border.
  small:
    'h-7 px-2.5 text-ui [&:not(.absolute)]:relative max-md:before:absolute max-md:before:-inset-y-2.25 max-md:before:inset-x-0',
  normal: 'h-8 px-3 text-ui',
  large: 'h-11 px-4 text-body md:h-10',
  touch: 'h-11 px-3 text-ui md:h-8',
}

/** The classes of a button; a disabled button is grey whatever its kind. */
export function buttonStyle(kind: ButtonKind, size: ButtonSize): string {
  return classes(
    'inline-flex flex-none items-center justify-center gap-1.5 rounded-control border font-medium whitespace-nowrap transition-colors',
    'disabled:cursor-not-allowed disabled:border-line disabled:bg-raised disabled:text-muted',
    kinds[kind],
    sizes[size],
  )
}
