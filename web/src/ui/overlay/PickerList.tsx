/** The open list of a `Picker`: a filter field that has the focus, except on touch screens, and options selected by arrow keys. */
import { Check, Search } from 'lucide-react'
import { type KeyboardEvent, Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { classes } from '../classes.ts'
import { useStable } from '../hooks.ts'
import { scrollIntoView } from '../scrollIntoView.ts'
import type { PickerListProps, PickerOption } from './pickerOptions.ts'
import { placeBeside } from './placeBeside.ts'
import { isComposingKey } from '../isComposingKey.ts'

interface OpenListProps extends PickerListProps {
  readonly id: string
  readonly anchor: HTMLButtonElement
  readonly onClose: () => void
}

/** The most options that the list shows. The filter finds the others. */
const maxOptions = 200
/** How many options Page Up and Page Down move by. */
const pageOfOptions = 8

export function PickerList(props: OpenListProps) {
  const { id, anchor, onClose, label, below, note, action } = props
  const list = useOptions(props)
  const box = usePopover(anchor, onClose)
  return createPortal(
    <div
      ref={box}
      role="dialog"
      aria-label={label}
      popover="manual"
      className="fixed inset-auto m-0 flex w-70 max-w-[calc(100vw-16px)] animate-appear flex-col overflow-hidden rounded-panel bg-panel p-0 text-text shadow-float"
    >
      <FilterField {...props} {...list} />
      <Options {...props} {...list} />
      <Suspense fallback={null}>{below}</Suspense>
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
            className="focus-inset flex h-11 w-full items-center rounded-control px-2 text-ui font-medium hover:bg-raised md:h-8"
          >
            {action.label}
          </button>
        </div>
      )}
    </div>,
    // Everything outside of an open modal dialog is inert.
    anchor.closest('dialog') ?? document.body,
    id,
  )
}

/**
 * Shows the box in the browser's top layer beside its button. It closes on Escape, when Tab leaves it, and when something outside is pressed or
 * focused. A focus inside the box then returns to the button.
 */
function usePopover(anchor: HTMLButtonElement, onClose: () => void) {
  const box = useRef<HTMLDivElement>(null)
  const close = useStable(onClose)

  useLayoutEffect(() => {
    const popover = box.current
    if (popover === null) return undefined
    popover.showPopover()
    const place = () =>
      placeBeside(popover, anchor.getBoundingClientRect(), {
        align: 'start',
        gap: 4,
        edge: 8,
        maxHeight: 360,
      })
    place()
    // A focused field opens the keyboard of a touch screen, which covers the options.
    const focused = matchMedia('(pointer: coarse)').matches ? '[role=listbox]' : 'input'
    popover.querySelector<HTMLElement>(focused)?.focus()
    // The box must be repositioned when its height changes, and when its button scrolls.
    const observer = new ResizeObserver(place)
    observer.observe(popover)
    const closed = new AbortController()
    document.addEventListener('scroll', place, { capture: true, signal: closed.signal })
    window.addEventListener('resize', place, { signal: closed.signal })
    return () => {
      observer.disconnect()
      closed.abort()
      // The box is still in the page here, so it is known whether the focus is inside.
      if (popover.contains(document.activeElement)) anchor.focus()
    }
  }, [anchor])

  useEffect(() => {
    const popover = box.current
    const closeOutside = ({ target }: Event) => {
      // The button toggles its own list: if the list were closed here too, the button would open it again.
      if (target instanceof Node && !popover?.contains(target) && !anchor.contains(target)) close()
    }
    const closeByKey = (event: globalThis.KeyboardEvent) => {
      const stops = [...(popover?.querySelectorAll('input, button') ?? [])]
      const leaves = event.key === 'Tab' && event.target === (event.shiftKey ? stops[0] : stops.at(-1))
      if (!leaves && event.key !== 'Escape') return
      // Only the list closes, not the dialog or panel around it.
      event.preventDefault()
      event.stopPropagation()
      close()
    }
    const closed = new AbortController()
    const { signal } = closed
    popover?.addEventListener('keydown', closeByKey, { signal })
    document.addEventListener('pointerdown', closeOutside, { capture: true, signal })
    document.addEventListener('focusin', closeOutside, { signal })
    return () => closed.abort()
  }, [anchor, close])

  return box
}

/** The options that match the filter, and the active one. */
function useOptions({ options, typed, chosen, onChoose, onClose }: OpenListProps) {
  const [filter, setFilter] = useState('')
  const matches = matching(options, filter)
  const visible = [...matches.slice(0, maxOptions), ...asTyped(options, filter.trim(), typed)]
  const chosenIndex = options.findIndex((option) => option.value === chosen)
  const [at, setAt] = useState(Math.max(0, chosenIndex))
  const active = visible[Math.min(at, visible.length - 1)]
  const choose = (option: PickerOption) => {
    if (option.disabled !== undefined) return
    onChoose(option.value)
    onClose()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposingKey(event.nativeEvent)) return
    const last = visible.length - 1
    const next = {
      ArrowDown: at >= last ? 0 : at + 1,
      ArrowUp: at <= 0 ? last : Math.min(at, last) - 1,
      PageDown: Math.min(at + pageOfOptions, last),
      PageUp: Math.max(at - pageOfOptions, 0),
    }[event.key]
    if (next !== undefined) setAt(Math.max(0, next))
    else if (event.key !== 'Enter') return
    else if (active !== undefined) choose(active)
    event.preventDefault()
  }
  return {
    filter,
    onFilter: (next: string) => {
      setFilter(next)
      setAt(0)
    },
    visible,
    count: matches.length,
    setAt,
    active,
    choose,
    onKeyDown,
  }
}

type OptionList = ReturnType<typeof useOptions>

/** The id of the active option's element; `undefined` when no option matches. */
const activeIdOf = ({ id, active }: Pick<OpenListProps, 'id'> & Pick<OptionList, 'active'>) =>
  active && `${id}-${active.value}`

/** The filter field, whose keys move among the options. */
function FilterField({ filterLabel, filter, onFilter, onKeyDown, ...list }: OpenListProps & OptionList) {
  return (
    <div className="flex h-10 flex-none items-center gap-2 border-b border-line-soft px-3">
      <Search className="size-3.5 text-muted" />
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls={list.id}
        aria-label={filterLabel}
        aria-activedescendant={activeIdOf(list)}
        aria-autocomplete="list"
        placeholder={filterLabel}
        value={filter}
        onChange={(event) => onFilter(event.target.value)}
        onKeyDown={onKeyDown}
        className="min-w-0 flex-1 bg-transparent text-typed outline-none"
      />
    </div>
  )
}

function Options({ id, label, chosen, mono = false, emptyText, ...list }: OpenListProps & OptionList) {
  const { visible, count, active, setAt, choose, onKeyDown } = list
  return (
    <div
      id={id}
      role="listbox"
      aria-label={label}
      aria-activedescendant={activeIdOf({ id, active })}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      className="focus-inset min-h-0 flex-1 overflow-y-auto p-1"
    >
      {visible.map((option, index) => (
        <Option
          key={option.value}
          id={`${id}-${option.value}`}
          option={option}
          head={option.group === visible[index - 1]?.group ? undefined : option.group}
          active={option === active}
          chosen={option.value === chosen}
          mono={mono}
          onChoose={() => choose(option)}
          onPoint={() => setAt(index)}
        />
      ))}
      {visible.length === 0 && <p className="px-2 py-1.5 text-ui text-muted">{emptyText}</p>}
      {count > maxOptions && (
        <p className="px-2 py-1.5 text-meta text-muted">
          {`Showing ${maxOptions} of ${count}. Type to narrow the list.`}
        </p>
      )}
    </div>
  )
}

interface OptionProps {
  readonly id: string
  readonly option: PickerOption
  /** The heading of the option's group; only the first option of a group has one. */
  readonly head: string | undefined
  readonly active: boolean
  readonly chosen: boolean
  readonly mono: boolean
  readonly onChoose: () => void
  readonly onPoint: () => void
}

function Option({ id, option, head, active, chosen, mono, onChoose, onPoint }: OptionProps) {
  const under = option.disabled ?? option.help
  return (
    <>
      {head !== undefined && (
        <div role="presentation" className="px-2 pt-2 pb-1 text-meta font-medium text-muted first:pt-1">
          {head}
        </div>
      )}
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the list around it has the keys */}
      <div
        id={id}
        role="option"
        tabIndex={-1}
        aria-selected={chosen}
        aria-disabled={option.disabled !== undefined}
        aria-label={option.label}
        aria-describedby={under === undefined ? undefined : `${id}-why`}
        ref={active ? scrollIntoView : undefined}
        onClick={onChoose}
        onPointerMove={onPoint}
        className={classes(
          'flex min-h-11 cursor-default items-center gap-2 rounded-control px-2 text-ui md:min-h-8 [&>svg]:text-muted',
          active && 'bg-raised',
        )}
      >
        {option.icon}
        <span
          className={classes(
            'min-w-0 flex-1',
            under !== undefined && 'py-1',
            option.disabled !== undefined && 'text-muted',
          )}
        >
          <span className={classes('block truncate', mono && 'mono')} title={option.label}>
            {option.label}
          </span>
          {under !== undefined && (
            <span id={`${id}-why`} className="block text-meta text-muted">
              {under}
            </span>
          )}
        </span>
        {chosen && <Check className="size-3.5" />}
      </div>
    </>
  )
}

/** The option for a typed text that no option has as its value or label. */
function asTyped(
  options: readonly PickerOption[],
  typed: string,
  optionOf: PickerListProps['typed'],
): readonly PickerOption[] {
  const isOption = options.some(({ value, label }) => value === typed || label === typed)
  return optionOf === undefined || typed === '' || isOption ? [] : [optionOf(typed)]
}

/** The options that have each typed word in their name or group. */
function matching(options: readonly PickerOption[], filter: string): readonly PickerOption[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return options
  return options.filter((option) => {
    const text = `${option.group ?? ''}/${option.label}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
