/**
 * A choice of one from many: a button with the chosen value that opens a filterable list. The list is a chunk of its own, preloaded when the pointer
 * or the focus reaches the button.
 */
import { ChevronDown } from 'lucide-react'
import { Suspense, useId, useState, type ReactNode } from 'react'
import { classes } from '../classes.ts'
import { optionalPart } from '../optionalPart.tsx'
import { MiddleCut } from '../text/MiddleCut.tsx'
import type { PickerListProps } from './pickerOptions.ts'

interface PickerProps extends PickerListProps {
  readonly icon: ReactNode
  /** Shown when nothing is chosen. */
  readonly placeholder: string
  /** A text after the chosen value. */
  readonly detail?: string
  readonly disabled?: boolean
  /** Whether only the icon of the value is shown on a phone. The value's name stays available to assistive technology. */
  readonly shrinks?: boolean
}

const loadList = () => import('./PickerList.tsx')
const PickerList = optionalPart(async () => (await loadList()).PickerList)

export function Picker({
  icon,
  placeholder,
  detail = '',
  disabled = false,
  shrinks = false,
  ...list
}: PickerProps) {
  // The button while its list is open.
  const [anchor, setAnchor] = useState<HTMLButtonElement | null>(null)
  const close = () => setAnchor(null)
  const listId = useId()
  const chosen = list.options.find((option) => option.value === list.chosen)
  // A fault of the preload is ignored: the list is loaded again when it opens, and then a fault is reported.
  const prefetch = () => {
    // Some browsers remember a failed import and never try it again.
    if (navigator.onLine) void loadList().catch(() => undefined)
  }
  return (
    <>
      <button
        type="button"
        role="combobox"
        aria-haspopup="listbox"
        aria-expanded={anchor !== null}
        aria-controls={listId}
        aria-label={`${list.label}: ${chosen?.label ?? placeholder}${detail}`}
        disabled={disabled}
        onPointerEnter={prefetch}
        onFocus={prefetch}
        onClick={({ currentTarget }) => setAnchor(anchor === null ? currentTarget : null)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
          event.preventDefault()
          setAnchor(event.currentTarget)
        }}
        className="inline-flex h-11 max-w-full min-w-0 items-center gap-1.5 rounded-control border border-line bg-panel px-2 text-ui font-medium transition-colors hover:border-control hover:bg-raised disabled:cursor-not-allowed disabled:bg-raised disabled:text-muted md:h-7 [&_svg]:flex-none [&_svg]:text-muted"
      >
        {chosen?.icon ?? icon}
        <span
          className={classes(
            'min-w-0',
            shrinks && 'max-md:hidden',
            chosen === undefined ? 'text-muted' : list.mono && 'mono',
          )}
        >
          <MiddleCut>{`${chosen?.short ?? chosen?.label ?? placeholder}${detail}`}</MiddleCut>
        </span>
        <ChevronDown className="size-3" />
      </button>
      {anchor !== null && (
        <Suspense fallback={null}>
          <PickerList {...list} id={listId} anchor={anchor} onClose={close} onMissing={close} />
        </Suspense>
      )}
    </>
  )
}
