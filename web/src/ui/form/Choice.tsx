/** A choice of a few visible options, and a checkbox. The options are radio buttons as tiles, so that arrow keys and forms work as usual. */
import { type ReactNode, useId } from 'react'
import { classes } from '../classes.ts'

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly options: readonly { readonly value: Value; readonly label: string }[]
  readonly chosen: Value | null
  readonly onChoose: (value: Value) => void
}

export function Choice<Value extends string>({ label, options, chosen, onChoose }: ChoiceProps<Value>) {
  const name = useId()
  return (
    <fieldset>
      <legend className="mb-1.5 text-ui font-medium">{label}</legend>
      <div
        className={classes('grid gap-2 md:grid-cols-3', options.length === 3 ? 'grid-cols-3' : 'grid-cols-2')}
      >
        {options.map((option) => (
          <label
            key={option.value}
            className="flex h-11 cursor-pointer items-center justify-center rounded-control border border-line bg-panel px-2 text-ui font-medium transition-colors hover:bg-raised has-checked:border-accent has-checked:bg-select has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent md:h-10"
          >
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === chosen}
              onChange={() => onChoose(option.value)}
              className="sr-only"
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

interface CheckboxProps {
  readonly checked: boolean
  readonly disabled?: boolean
  /** Whether a change is being saved: the checkbox keeps the focus, and changes nothing. */
  readonly busy?: boolean
  /** The id of an element that explains the checkbox. */
  readonly describedBy?: string
  readonly onChange: (checked: boolean) => void
  readonly children: ReactNode
}

export function Checkbox({
  checked,
  disabled,
  busy = false,
  describedBy,
  onChange,
  children,
}: CheckboxProps) {
  return (
    <label className="inline-flex min-h-11 items-center gap-2 text-ui md:min-h-8">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-disabled={busy || undefined}
        aria-describedby={describedBy}
        onChange={(event) => !busy && onChange(event.target.checked)}
        className="size-4 aria-disabled:opacity-50"
      />
      {children}
    </label>
  )
}
