/** A link that looks like a button: it goes somewhere. Inside the product by the router, elsewhere in a new tab. */
import type { ReactNode } from 'react'
import { Link } from 'react-router-dom'
import { buttonStyle, type ButtonKind, type ButtonSize } from './buttonStyle.ts'
import { classes } from './classes.ts'

interface ButtonLinkProps {
  readonly to: string
  readonly kind?: ButtonKind
  readonly size?: ButtonSize
  readonly icon?: ReactNode
  /** Opens another site in a new tab. */
  readonly outside?: boolean
  readonly className?: string
  readonly children: ReactNode
}

export function ButtonLink({
  to,
  kind = 'plain',
  size = 'normal',
  icon,
  outside = false,
  className,
  children,
}: ButtonLinkProps) {
  const style = classes(buttonStyle(kind, size), className)
  return outside ? (
    <a className={style} href={to} target="_blank" rel="noreferrer">
      {icon}
      {children}
    </a>
  ) : (
    <Link className={style} to={to}>
      {icon}
      {children}
    </Link>
  )
}
