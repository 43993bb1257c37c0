/** A choice of one among two to six views: a row of joined buttons, 28 px high and, below 768 px, 46 px. */
import { useState, type ReactNode } from 'react'
import { classes } from '../classes.ts'

interface SegmentedProps<Value extends string> {
  readonly label: string
  readonly options: readonly {
    readonly value: Value
    readonly label: ReactNode
    readonly icon?: ReactNode
    /** Why the option cannot be chosen, in a sentence. */
    readonly disabled?: string | undefined
  }[]
  readonly chosen: Value
  readonly onChoose: (value: Value) => void
  readonly className?: string
}

export function Segmented<Value extends string>({
  label,
  options,
  chosen,
  onChoose,
  className,
}: SegmentedProps<Value>) {
  /** Why the option that was just pressed is disabled; touch screens do not show its title. */
  const [refusal, setRefusal] = useState<string | null>(null)
  return (
    <div
      role="group"
      aria-label={label}
      className={classes(
        'relative inline-flex flex-none rounded-control border border-line bg-raised p-0.5',
        className,
      )}
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === chosen}
          // `aria-disabled` keeps the focus and the title, which `disabled` would not.
          aria-disabled={option.disabled !== undefined}
          title={option.disabled}
          onBlur={() => setRefusal(null)}
          onClick={() => {
            setRefusal(option.disabled ?? null)
            if (option.disabled === undefined) onChoose(option.value)
          }}
          className="focus-inset inline-flex h-10 flex-1 items-center justify-center gap-1.25 rounded-badge px-2 text-meta font-medium whitespace-nowrap text-muted transition-colors hover:text-text aria-disabled:cursor-not-allowed aria-disabled:opacity-70 aria-disabled:hover:text-muted aria-pressed:bg-panel aria-pressed:text-text aria-pressed:ring aria-pressed:ring-line md:h-5.5 [&_svg]:size-3.5"
        >
          {option.icon}
          {option.label}
        </button>
      ))}
      {refusal !== null && (
        <span
          role="status"
          className="absolute top-full right-0 z-20 mt-1 w-max max-w-64 rounded-control border border-line bg-panel px-2.5 py-1.5 text-meta text-text shadow-float"
        >
          {refusal}
        </span>
      )}
    </div>
  )
}
