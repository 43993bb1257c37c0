/** The bar in which messages are looked for: how many there are, and the way from one place to the next. */
import { ChevronDown, ChevronUp, Search, X } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { IconButton } from '../../../ui/IconButton.tsx'
import { texts } from './texts.ts'

interface ChatSearchProps {
  readonly words: string
  /** Messages that have the words; `null` while there are none. */
  readonly found: number | null
  /** Older messages are still being read. */
  readonly reading: boolean
  readonly onChange: (words: string) => void
  readonly onGo: (by: -1 | 1) => void
  readonly onClose: () => void
}

export function ChatSearch({ words, found, reading, onChange, onGo, onClose }: ChatSearchProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') onClose()
    else if (event.key === 'Enter') onGo(event.shiftKey ? -1 : 1)
    else return
    event.preventDefault()
  }
  const nothing = found === null || found === 0
  return (
    <search className="flex min-h-11 flex-none items-center gap-1 border-b border-line-soft bg-panel pr-2 pl-4 md:min-h-10">
      <Search className="mr-1 size-3.5 text-muted" />
      <input
        ref={focusWhenShown}
        type="search"
        aria-label={texts.chat.search}
        placeholder={texts.chat.search}
        value={words}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={onKeyDown}
        className="min-w-0 flex-1 bg-transparent text-typed outline-none [&::-webkit-search-cancel-button]:hidden"
      />
      <span role="status" className="mr-1 text-meta whitespace-nowrap text-muted">
        {found !== null && texts.chat.found(found)}
        {found !== null && reading && ` · ${texts.chat.reading}`}
      </span>
      <IconButton
        icon={ChevronUp}
        label={texts.chat.before}
        size="row"
        className="max-md:size-11!"
        disabled={nothing}
        onClick={() => onGo(-1)}
      />
      <IconButton
        icon={ChevronDown}
        label={texts.chat.next}
        size="row"
        className="max-md:size-11!"
        disabled={nothing}
        onClick={() => onGo(1)}
      />
      <IconButton
        icon={X}
        label={texts.chat.closeSearch}
        size="row"
        className="max-md:size-11!"
        onClick={onClose}
      />
    </search>
  )
}

function focusWhenShown(input: HTMLInputElement | null): void {
  input?.focus()
}
