/** A search for files by their paths. The field keeps the focus: the arrow keys move in the list, Enter opens a file, Escape closes the search. */
import { Search, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { abilityLimits } from '#domain/api/abilities.ts'
import { reasonOf } from '../../../api/fault.ts'
import { classes } from '../../../ui/classes.ts'
import { isComposingKey } from '../../../ui/isComposingKey.ts'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { scrollIntoView } from '../../../ui/scrollIntoView.ts'
import { usePathsInTaskQuery } from './filesApi.ts'
import { texts } from './texts.ts'

interface FilesSearchProps {
  readonly taskId: string
  readonly onChoose: (path: string) => void
  readonly onClose: () => void
}

/** How long typing must pause before the server searches, in milliseconds. */
const restMs = 150

export function FilesSearch({ taskId, onChoose, onClose }: FilesSearchProps) {
  const listId = useId()
  const [words, setWords] = useState('')
  const [search, setSearch] = useState('')
  const [at, setAt] = useState(0)
  useEffect(() => {
    const timer = setTimeout(() => setSearch(words), restMs)
    return () => clearTimeout(timer)
  }, [words])
  const { data, error, isFetching } = usePathsInTaskQuery({ taskId, search })
  // The answer may be for an earlier text, so its paths are filtered.
  const contains = (path: string) => path.toLowerCase().includes(words.toLowerCase())
  const found = (data?.files ?? []).filter(contains)
  const active = Math.min(at, found.length - 1)
  const isSettled = search === words && !isFetching
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposingKey(event.nativeEvent)) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const chosen = found[active]
    if (step !== undefined && found.length > 0) setAt((active + step + found.length) % found.length)
    else if (event.key === 'Enter' && chosen !== undefined) onChoose(chosen)
    else if (event.key === 'Escape') onClose()
    else return
    event.preventDefault()
  }
  const none = error === undefined ? texts.noneFound : reasonOf(error, texts.notRead)
  const counted = found.length === abilityLimits.filesFound ? texts.firstFound : texts.found
  return (
    <search className="relative flex-none">
      <div className="flex h-11 items-center gap-1 border-b border-line-soft bg-panel pr-1 pl-4 md:h-10 md:pr-2">
        <Search className="mr-1 size-3.5 flex-none text-muted" />
        <input
          ref={takeFocus}
          type="search"
          role="combobox"
          aria-label={texts.search}
          aria-autocomplete="list"
          aria-expanded={found.length > 0}
          aria-controls={listId}
          aria-activedescendant={found.length > 0 ? `${listId}-${active}` : undefined}
          placeholder={texts.search}
          value={words}
          onChange={(event) => {
            setWords(event.target.value.slice(0, abilityLimits.searchLength))
            setAt(0)
          }}
          onKeyDown={onKeyDown}
          className="min-w-16 flex-1 bg-transparent text-typed outline-none [&::-webkit-search-cancel-button]:hidden"
        />
        <span role="status" className="mr-1 min-w-0 truncate text-meta text-muted">
          {isSettled && (found.length > 0 ? counted(found.length) : none)}
        </span>
        <IconButton
          icon={X}
          label={texts.closeSearch}
          size="row"
          className="flex-none max-md:size-11!"
          onClick={onClose}
        />
      </div>
      <div
        id={listId}
        role="listbox"
        aria-label={texts.results}
        className={classes(
          'absolute inset-x-0 top-full z-30 mx-2 mt-1 max-h-80 overflow-y-auto rounded-panel bg-panel p-1 shadow-float',
          found.length === 0 && 'hidden',
        )}
      >
        {found.map((path, index) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the text field has the keys
          <div
            key={path}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            ref={index === active ? scrollIntoView : undefined}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => onChoose(path)}
            onPointerMove={() => setAt(index)}
            className={classes(
              'flex min-h-11 cursor-default items-center rounded-control px-2 font-mono text-code wrap-anywhere md:min-h-8',
              index === active && 'bg-raised',
            )}
          >
            {path}
          </div>
        ))}
      </div>
    </search>
  )
}

function takeFocus(input: HTMLInputElement | null): void {
  input?.focus()
}
