/** The open list of a `Picker`: a filter field that keeps the focus, and options that the arrow keys walk. */
import { Check, Search } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useState, type KeyboardEvent, type RefObject } from 'react'
import { classes } from '../classes.ts'
import type { PickerListProps, PickerOption } from './pickerOptions.ts'

interface OpenListProps extends PickerListProps {
  readonly id: string
  readonly anchor: RefObject<HTMLButtonElement | null>
  readonly onClose: () => void
}

/** Options that are drawn; who has more finds the others by typing. */
const mostShown = 200

export function PickerList(props: OpenListProps) {
  const {
    id,
    anchor,
    onClose,
    label,
    options,
    typed,
    chosen,
    onChoose,
    mono,
    note,
    filterLabel,
    emptyText,
    action,
  } = props
  const [filter, setFilter] = useState('')
  const found = matching(options, filter)
  const shown = [...found.slice(0, mostShown), ...asTyped(options, filter.trim(), typed)]
  const [at, setAt] = useState(() =>
    Math.max(
      0,
      options.findIndex((option) => option.value === chosen),
    ),
  )
  const active = shown[Math.min(at, shown.length - 1)]
  const choose = (option: PickerOption) => {
    if (option.disabled !== undefined) return
    onChoose(option.value)
    onClose()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const last = shown.length - 1
    const next = {
      ArrowDown: at >= last ? 0 : at + 1,
      ArrowUp: at <= 0 ? last : Math.min(at, last) - 1,
      PageDown: Math.min(at + 8, last),
      PageUp: Math.max(at - 8, 0),
    }[event.key]
    if (next !== undefined) {
      event.preventDefault()
      setAt(Math.max(0, next))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (active !== undefined) choose(active)
    } else if (event.key === 'Tab' && action === undefined) {
      onClose()
    }
  }

  return (
    <Popover.Root
      open
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
    >
      <Popover.Anchor virtualRef={anchor} />
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label={label}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            anchor.current?.focus()
          }}
          onInteractOutside={(event) => {
            // The button closes its own list; closing it here as well would open it again.
            if (event.target instanceof Node && anchor.current?.contains(event.target)) event.preventDefault()
          }}
          className="z-40 flex max-h-[min(360px,var(--radix-popover-content-available-height))] w-70 max-w-[calc(100vw-16px)] animate-appear flex-col rounded-panel bg-panel shadow-float"
        >
          <div className="flex h-10 flex-none items-center gap-2 border-b border-line-soft px-3">
            <Search className="size-3.5 text-muted" />
            <input
              role="combobox"
              aria-expanded="true"
              aria-controls={id}
              aria-label={filterLabel}
              aria-activedescendant={active === undefined ? undefined : `${id}-${active.value}`}
              aria-autocomplete="list"
              placeholder={filterLabel}
              value={filter}
              onChange={(event) => {
                setFilter(event.target.value)
                setAt(0)
              }}
              onKeyDown={onKeyDown}
              className="min-w-0 flex-1 bg-transparent text-typed outline-none"
            />
          </div>
          <div id={id} role="listbox" aria-label={label} className="min-h-0 flex-1 overflow-y-auto p-1">
            {shown.map((option, index) => (
              <Option
                key={option.value}
                id={`${id}-${option.value}`}
                option={option}
                head={
                  option.group !== undefined && option.group !== shown[index - 1]?.group
                    ? option.group
                    : undefined
                }
                active={option === active}
                chosen={option.value === chosen}
                mono={mono ?? false}
                onChoose={() => choose(option)}
                onPoint={() => setAt(index)}
              />
            ))}
            {shown.length === 0 && <p className="px-2 py-1.5 text-ui text-muted">{emptyText}</p>}
            {found.length > mostShown && (
              <p className="px-2 py-1.5 text-meta text-muted">
                {`Showing ${mostShown} of ${found.length}. Type to narrow the list.`}
              </p>
            )}
          </div>
          {note !== undefined && (
            <p className="flex-none border-t border-line-soft px-3 py-2 text-meta text-muted">{note}</p>
          )}
          {action !== undefined && (
            <div className="flex-none border-t border-line-soft p-1">
              <button
                type="button"
                onClick={() => {
                  onClose()
                  action.onChoose()
                }}
                className="focus-inset flex h-9 w-full items-center rounded-control px-2 text-ui font-medium hover:bg-raised md:h-8"
              >
                {action.label}
              </button>
            </div>
          )}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

interface OptionProps {
  readonly id: string
  readonly option: PickerOption
  readonly head: string | undefined
  readonly active: boolean
  readonly chosen: boolean
  readonly mono: boolean
  readonly onChoose: () => void
  readonly onPoint: () => void
}

function Option({ id, option, head, active, chosen, mono, onChoose, onPoint }: OptionProps) {
  return (
    <>
      {head !== undefined && (
        <div role="presentation" className="px-2 pt-2 pb-1 text-meta font-medium text-muted first:pt-1">
          {head}
        </div>
      )}
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the filter field above has the keys */}
      <div
        id={id}
        role="option"
        tabIndex={-1}
        aria-selected={chosen}
        aria-disabled={option.disabled !== undefined}
        aria-label={option.label}
        aria-describedby={option.disabled === undefined ? undefined : `${id}-why`}
        ref={active ? intoView : undefined}
        onClick={onChoose}
        onPointerMove={onPoint}
        className={classes(
          'flex min-h-9 cursor-default items-center gap-2 rounded-control px-2 text-ui md:min-h-8 [&>svg]:text-muted',
          active && 'bg-raised',
        )}
      >
        {option.icon}
        <span className={classes('min-w-0 flex-1', option.disabled !== undefined && 'py-1 text-muted')}>
          <span className={classes('block truncate', mono && 'mono')} title={option.label}>
            {option.label}
          </span>
          {option.disabled !== undefined && (
            <span id={`${id}-why`} className="block text-meta">
              {option.disabled}
            </span>
          )}
        </span>
        {chosen && <Check className="size-3.5" />}
      </div>
    </>
  )
}

/** Keeps the active option in sight while the keys walk. */
function intoView(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' })
}

/** The choice that what was typed stands for, where it is none of the options. */
function asTyped(
  options: readonly PickerOption[],
  typed: string,
  optionOf: PickerListProps['typed'],
): readonly PickerOption[] {
  const isOption = options.some(({ value, label }) => value === typed || label === typed)
  return optionOf === undefined || typed === '' || isOption ? [] : [optionOf(typed)]
}

/** Options whose name or group has all the words that were typed. */
function matching(options: readonly PickerOption[], filter: string): readonly PickerOption[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return options
  return options.filter((option) => {
    const text = `${option.group ?? ''}/${option.label}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
