/** The bar in which one searches the output: how many places there are, and the way from one to the next. */
import { ArrowDown, ArrowUp, Search, X } from 'lucide-react'
import { shortcutOf } from '../../../actions/Keys.tsx'
import { IconButton } from '../../../ui/IconButton.tsx'
import { mostMatches } from './findInLines.ts'
import { texts } from './texts.ts'

interface TerminalSearchProps {
  readonly words: string
  /** How manieth place was gone to; 0 for none. */
  readonly nth: number
  readonly count: number
  readonly onChange: (words: string) => void
  /** Goes on by so many places; back below 0. */
  readonly onStep: (by: 1 | -1) => void
  readonly onClose: () => void
}

export function TerminalSearch({ words, nth, count, onChange, onStep, onClose }: TerminalSearchProps) {
  return (
    <search className="flex h-11 flex-none items-center gap-2 border-b border-line-soft pr-2 pl-4 md:h-10">
      <Search className="size-3.5 text-muted" />
      <input
        ref={chosenWhenShown}
        type="search"
        aria-label={texts.find}
        placeholder={texts.find}
        value={words}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
          event.preventDefault()
          onStep(event.shiftKey ? -1 : 1)
        }}
        className="min-w-0 flex-1 bg-transparent text-typed outline-none [&::-webkit-search-cancel-button]:hidden"
      />
      <span role="status" className="text-meta whitespace-nowrap text-muted">
        {words !== '' && (count === 0 ? texts.notFound : texts.found(nth, count, count >= mostMatches))}
      </span>
      <span className="flex">
        <IconButton
          icon={ArrowUp}
          label={texts.previous}
          size="row"
          disabled={count === 0}
          onClick={() => onStep(-1)}
          {...shortcutOf('terminalPrevious')}
        />
        <IconButton
          icon={ArrowDown}
          label={texts.next}
          size="row"
          disabled={count === 0}
          onClick={() => onStep(1)}
          {...shortcutOf('terminalNext')}
        />
        <IconButton
          icon={X}
          label={texts.closeFind}
          size="row"
          onClick={onClose}
          {...shortcutOf('terminalFindClose')}
        />
      </span>
    </search>
  )
}

/** What was searched for last is there to be typed over. */
function chosenWhenShown(input: HTMLInputElement | null): void {
  input?.select()
}
