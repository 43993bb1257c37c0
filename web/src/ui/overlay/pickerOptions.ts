/** What a `Picker` offers, and how its list is asked for it. */
import type { ReactNode } from 'react'

export interface PickerOption {
  readonly value: string
  readonly label: string
  readonly icon?: ReactNode
  /** Options of one group stand together, in the order given, under this head. */
  readonly group?: string
  /** Why it cannot be chosen, in a sentence; it is shown all the same. */
  readonly disabled?: string | undefined
}

export interface PickerListProps {
  readonly label: string
  readonly options: readonly PickerOption[]
  /** What may be chosen beside the options: made of what was typed, where no option has that value or label. */
  readonly typed?: ((typed: string) => PickerOption) | undefined
  readonly chosen: string | null
  readonly onChoose: (value: string) => void
  readonly mono?: boolean
  /** Below the options: a sentence to know before choosing. */
  readonly note?: string | undefined
  /** In the filter field. */
  readonly filterLabel: string
  /** Where the options would be when none matches. */
  readonly emptyText: string
  /** Last in the list, apart from the options. */
  readonly action?: { readonly label: string; readonly onChoose: () => void } | undefined
}
