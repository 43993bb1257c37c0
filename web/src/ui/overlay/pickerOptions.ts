/** The options of a `Picker`, and the props of its list. */
import type { ReactNode } from 'react'

export interface PickerOption {
  readonly value: string
  readonly label: string
  /** What the button shows when the option is chosen, in place of a long label. */
  readonly short?: string
  readonly icon?: ReactNode
  /** The heading of the option's group, shown above the first of adjacent options with the same group. */
  readonly group?: string
  /** A sentence below the option's label. */
  readonly help?: string | undefined
  /** Why the option cannot be chosen, in a sentence; the option is still shown. */
  readonly disabled?: string | undefined
}

export interface PickerListProps {
  readonly label: string
  readonly options: readonly PickerOption[]
  /** Makes an option from a typed text that no option has as its value or label. */
  readonly typed?: ((typed: string) => PickerOption) | undefined
  readonly chosen: string | null
  readonly onChoose: (value: string) => void
  readonly mono?: boolean
  /** A sentence below the options. */
  readonly note?: string | undefined
  /** Further choices, shown in the open list below the options. */
  readonly below?: ReactNode
  /** The label of the filter field. */
  readonly filterLabel: string
  /** Shown when no option matches. */
  readonly emptyText: string
  /** An action at the end of the list, separate from the options. */
  readonly action?: { readonly label: string; readonly onChoose: () => void } | undefined
}
