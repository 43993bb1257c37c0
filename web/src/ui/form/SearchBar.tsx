/**
 * A bar to search the text below it, with the number of matches and buttons to move between them. Enter goes to the next match, Shift and Enter to
 * the previous one.
 */
import { ChevronDown, ChevronUp, Search, X } from 'lucide-react'
import type { ComponentProps, KeyboardEvent } from 'react'
import { IconButton } from './IconButton.tsx'
import { isComposingKey } from '../isComposingKey.ts'

interface SearchBarNames {
  readonly label: string
  readonly previous: string
  readonly next: string
  readonly close: string
}

/** The keys that do the same as a button. */
type KeysOfButton = Pick<ComponentProps<typeof IconButton>, 'shortcut' | 'aria-keyshortcuts'>

interface SearchBarProps {
  readonly names: SearchBarNames
  readonly keys?: Readonly<Partial<Record<'previous' | 'next' | 'close', KeysOfButton>>>
  readonly words: string
  readonly onWords: (words: string) => void
  /** The result of the search, in words. */
  readonly result: string
  /** Whether there is no match to move to. */
  readonly nothing: boolean
  readonly onStep: (by: -1 | 1) => void
  readonly onClose: () => void
}

export function SearchBar({ names, keys, words, onWords, result, nothing, onStep, onClose }: SearchBarProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that finishes composing a character must not move to the next match.
    if (event.key !== 'Enter' || isComposingKey(event.nativeEvent)) return
    event.preventDefault()
    onStep(event.shiftKey ? -1 : 1)
  }
  return (
    <search className="flex h-11 flex-none items-center gap-1 border-b border-line-soft bg-panel pr-1 pl-4 md:h-10 md:pr-2">
      <Search className="mr-1 size-3.5 flex-none text-muted" />
      <input
        ref={takeFocus}
        type="search"
        aria-label={names.label}
        placeholder={names.label}
        value={words}
        onChange={(event) => onWords(event.target.value)}
        onKeyDown={onKeyDown}
        className="min-w-16 flex-1 bg-transparent text-typed outline-none [&::-webkit-search-cancel-button]:hidden"
      />
      <span role="status" className="mr-1 min-w-0 truncate text-meta text-muted">
        {result}
      </span>
      <Step
        icon={ChevronUp}
        label={names.previous}
        {...keys?.previous}
        disabled={nothing}
        onClick={() => onStep(-1)}
      />
      <Step
        icon={ChevronDown}
        label={names.next}
        {...keys?.next}
        disabled={nothing}
        onClick={() => onStep(1)}
      />
      <Step icon={X} label={names.close} {...keys?.close} onClick={onClose} />
    </search>
  )
}

function Step(props: ComponentProps<typeof IconButton>) {
  return <IconButton {...props} size="row" className="flex-none max-md:size-11!" />
}

/** Focuses the field, and selects the last search text, so that typing replaces it. */
function takeFocus(input: HTMLInputElement | null): void {
  input?.focus()
  input?.select()
}
