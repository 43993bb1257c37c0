/** A box to tick, with its words beside it. */
import type { ReactNode } from 'react'

interface CheckboxProps {
  readonly checked: boolean
  /** The id of what explains it further. */
  readonly describedBy?: string
  readonly onChange: (checked: boolean) => void
  readonly children: ReactNode
}

export function Checkbox({ checked, describedBy, onChange, children }: CheckboxProps) {
  return (
    <label className="inline-flex min-h-11 items-center gap-2 text-ui md:min-h-8">
      <input
        type="checkbox"
        checked={checked}
        aria-describedby={describedBy}
        onChange={(event) => onChange(event.target.checked)}
        className="size-4"
      />
      {children}
    </label>
  )
}
