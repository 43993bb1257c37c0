/** One notification: an icon, a title, a message, and possibly an undo button. It counts down unless it is hovered or has the focus. */
import { CircleCheck, CircleX, Info, TriangleAlert, X } from 'lucide-react'
import { classes } from '../classes.ts'
import { Button } from '../form/Button.tsx'
import { IconButton } from '../form/IconButton.tsx'
import { Linked } from '../text/Linked.tsx'
import { useCountdown } from './useCountdown.ts'

interface ToastProps {
  readonly kind: keyof typeof icons
  readonly title: string
  readonly message: string | undefined
  /** Milliseconds until it disappears. */
  readonly duration: number
  /** The button in the toast, such as Undo. */
  readonly action: { readonly label: string; readonly onClick: () => void } | undefined
  readonly closeLabel: string
  readonly onClose: () => void
}

/** A message of more characters than this does not fit in two lines together with its title. */
const maxShortLength = 70

const icons = { success: CircleCheck, error: CircleX, warning: TriangleAlert, info: Info } as const
const colours = { success: 'text-ok', error: 'text-bad', warning: 'text-warn', info: 'text-run' } as const

export function Toast({ kind, title, message, duration, action, closeLabel, onClose }: ToastProps) {
  const clock = useCountdown(duration, onClose)
  const Icon = icons[kind]
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- pointing at it only stops its clock
    <li
      {...clock}
      // The list reads out what is added; an error is an alert, which it would read out a second time.
      aria-live={kind === 'error' ? 'off' : undefined}
      className="pointer-events-auto w-90 max-w-full"
    >
      <div
        role={kind === 'error' ? 'alert' : undefined}
        className={classes(
          'toast flex animate-rise gap-2.5 rounded-panel bg-panel shadow-float',
          (message?.length ?? 0) > maxShortLength && 'toast-long',
        )}
      >
        <Icon className={`mt-0.5 ${colours[kind]}`} />
        <div className="min-w-0 flex-1 wrap-anywhere">
          <p className="text-ui font-medium">{title}</p>
          {message !== undefined && (
            <p className="text-ui text-muted">
              <Linked text={message} />
            </p>
          )}
        </div>
        {action !== undefined && (
          <Button size="small" onClick={action.onClick} className="-my-0.5">
            {action.label}
          </Button>
        )}
        <IconButton label={closeLabel} icon={X} size="row" onClick={onClose} className="-mt-0.5 -mr-1" />
      </div>
    </li>
  )
}
