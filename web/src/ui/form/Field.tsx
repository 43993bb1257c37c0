/** A labelled text input with help below it and, when invalid, a red border, an icon and the reason. `AreaField` is for several lines. */
import { CircleAlert } from 'lucide-react'
import { type ComponentProps, type ReactNode, useId, useRef } from 'react'
import { classes } from '../classes.ts'
import { useLengthLimit } from './lengthLimit.ts'
import { TextArea } from './TextArea.tsx'

interface FieldProps extends Omit<ComponentProps<'input'>, 'size' | 'maxLength'> {
  readonly label: string
  /** Shows the label to assistive technology only, when an icon and a placeholder say the same. */
  readonly labelHidden?: boolean
  /** Above this length, a sentence says by how much the text is too long. */
  readonly maxCharacters?: number
  readonly help?: string | undefined
  readonly error?: string | undefined
  readonly icon?: ReactNode
  /** Whether the input is 40 px high, as on sign-in and onboarding, rather than 32 px. Below 768 px, it is always 44 px. */
  readonly large?: boolean
}

export function Field({
  label,
  labelHidden = false,
  help,
  error: fieldError,
  maxCharacters,
  icon,
  large = false,
  className,
  ...rest
}: FieldProps) {
  const id = useId()
  const noteId = `${id}-note`
  const frame = useRef<HTMLDivElement>(null)
  const sentence = useLengthLimit(frame, rest.value, maxCharacters)
  const error = sentence ?? fieldError
  const noted = error !== undefined || help !== undefined
  return (
    <div className={className}>
      <label htmlFor={id} className={classes(labelHidden ? 'sr-only' : 'mb-1.5 block text-ui font-medium')}>
        {label}
      </label>
      <div
        ref={frame}
        className={classes(
          'flex items-center gap-2 rounded-control border px-2.5 has-focus-visible:outline-2 has-focus-visible:outline-accent',
          large ? 'h-11 md:h-10' : 'h-11 md:h-8',
          rest.readOnly
            ? 'border-transparent bg-raised'
            : error === undefined
              ? 'border-control bg-panel'
              : 'border-bad bg-panel',
        )}
      >
        {icon !== undefined && <span className="flex-none text-muted">{icon}</span>}
        <input
          {...rest}
          id={id}
          aria-invalid={error !== undefined || undefined}
          aria-describedby={noted ? noteId : undefined}
          className="min-w-0 flex-1 bg-transparent text-typed outline-none"
        />
      </div>
      <FieldNote
        id={noteId}
        help={help}
        error={error}
        // The length changes with each letter, which would be read out each time.
        quiet={sentence !== undefined}
      />
    </div>
  )
}

interface FieldNoteProps extends Pick<FieldProps, 'help' | 'error'> {
  readonly id?: string
  /** Whether the error is not read out at once. */
  readonly quiet?: boolean
}

/** The error of a field, or else its help; nothing without either. */
export function FieldNote({ id, help, error, quiet = false }: FieldNoteProps) {
  if (error === undefined && help === undefined) return null
  return (
    <p
      id={id}
      role={error === undefined || quiet ? undefined : 'alert'}
      className={classes(
        'mt-1.5 flex items-center gap-1.5 text-meta',
        error === undefined ? 'text-muted' : 'text-bad',
      )}
    >
      {error !== undefined && <CircleAlert className="size-3.5" />}
      {error ?? help}
    </p>
  )
}

/** A labelled multi-line text input that grows with its content. */
interface AreaFieldProps extends Omit<ComponentProps<typeof TextArea>, 'className' | 'interim'> {
  /** Whether the text depends on columns, and so needs a fixed-width font. */
  readonly mono?: boolean
}

export function AreaField({ mono = false, ...props }: AreaFieldProps) {
  return (
    <div>
      {/* Hidden from assistive technology, because the text area itself has this label as its name. */}
      <p aria-hidden className="mb-1.5 text-ui font-medium">
        {props.label}
      </p>
      <div className="rounded-control border border-control bg-panel p-2.5 has-focus-visible:outline-2 has-focus-visible:outline-accent">
        <TextArea {...props} className={classes('text-typed', mono && 'font-mono md:text-code')} />
      </div>
    </div>
  )
}
