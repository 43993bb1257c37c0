/** Where text is looked for in the changes: how often it is there, and the way to the next one. */
import { ChevronDown, ChevronUp, Search, X } from 'lucide-react'
import { useEffect, useRef, type KeyboardEvent } from 'react'
import { IconButton } from '../../../ui/IconButton.tsx'
import { mostMatches } from './findInDiff.ts'
import { texts } from './texts.ts'

interface FindBarProps {
  readonly wanted: string
  readonly onWanted: (wanted: string) => void
  readonly count: number
  /** Which one is shown, from 0. */
  readonly at: number
  readonly onStep: (by: 1 | -1) => void
  readonly onClose: () => void
}

export function FindBar({ wanted, onWanted, count, at, onStep, onClose }: FindBarProps) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.select(), [])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key !== 'Enter') return
    event.preventDefault()
    onStep(event.shiftKey ? -1 : 1)
  }
  const told = count >= mostMatches ? texts.foundMany : texts.found
  return (
    <div
      role="search"
      className="flex h-11 flex-none items-center gap-1 border-b border-line-soft pr-1 pl-4 md:h-9"
    >
      <Search className="size-3.5 text-muted" />
      <input
        ref={field}
        aria-label={texts.find}
        placeholder={texts.find}
        value={wanted}
        onChange={(event) => onWanted(event.target.value)}
        onKeyDown={onKeyDown}
        className="min-w-0 flex-1 bg-transparent px-1.5 text-typed outline-none"
      />
      <span role="status" className="text-meta whitespace-nowrap text-muted">
        {wanted !== '' && (count === 0 ? texts.notFound : told(at + 1, count))}
      </span>
      <IconButton
        icon={ChevronUp}
        label={texts.previousMatch}
        size="row"
        disabled={count === 0}
        onClick={() => onStep(-1)}
      />
      <IconButton
        icon={ChevronDown}
        label={texts.nextMatch}
        size="row"
        disabled={count === 0}
        onClick={() => onStep(1)}
      />
      <IconButton icon={X} label={texts.closeFind} size="row" onClick={onClose} />
    </div>
  )
}
