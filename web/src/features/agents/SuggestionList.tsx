/** Suggestions for the command or mention that is being typed. The text field keeps the focus and passes its keys on to this list. */
import {
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useState,
  type KeyboardEvent,
  type Ref,
} from 'react'
import { skipToken } from '@reduxjs/toolkit/query'
import type { AgentName } from '#domain/agents.ts'
import { classes } from '../../ui/classes.ts'
import { isComposingKey } from '../../ui/isComposingKey.ts'
import { scrollIntoView } from '../../ui/scrollIntoView.ts'
import { useAbilitiesQuery, useFoundFilesQuery, type WritingPlace } from './abilitiesApi.ts'
import { commandSuggestions, mentionSuggestions, texts, type Suggestion } from './suggestions.ts'
import type { Typing } from './typingAt.ts'

export interface SuggestionKeys {
  /** Handles a key pressed in the field; returns whether the key was for the list. */
  take(event: KeyboardEvent): boolean
}

interface SuggestionListProps {
  readonly id: string
  readonly agent: AgentName
  /** The task, or the project of a new task, that the message is for; `null` until that is known. */
  readonly place: WritingPlace | null
  readonly text: string
  readonly typing: Typing
  readonly begins: boolean
  /** Receives the text with the suggestion in it, and the new position of the caret. */
  readonly onChoose: (text: string, caret: number) => void
  readonly ref: Ref<SuggestionKeys>
  /** Receives the id of the active option; `null` while the list is closed. */
  readonly onActive: (id: string | null) => void
}

export function SuggestionList(props: SuggestionListProps) {
  const { id, text, typing, begins, onChoose, ref, onActive } = props
  /** The text when the list was closed; the list opens again once the text differs. */
  const [closedAt, setClosedAt] = useState<string | null>(null)
  const [moved, setMoved] = useState({ text: '', at: 0 })
  const { found, notes } = useMatches(props)
  const suggestions = closedAt === text ? [] : found
  const at = moved.text === text ? Math.min(moved.at, suggestions.length - 1) : 0
  const active = suggestions[at]
  const activeId = active === undefined ? null : `${id}-${active.id}`

  const choose = ({ insert }: Suggestion) => {
    const next = `${text.slice(0, typing.from)}${insert}${text.slice(typing.to)}`
    onChoose(next, typing.from + insert.length)
    setClosedAt(next)
  }
  const take = (event: KeyboardEvent): boolean => {
    if (active === undefined || isComposingKey(event.nativeEvent)) return false
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey
    const isWhole = text.slice(typing.from, typing.to) === active.insert.trim()
    if (step !== undefined && isPlain) {
      setMoved({ text, at: (at + step + suggestions.length) % suggestions.length })
    } else if (event.key === 'Escape') {
      setClosedAt(text)
    } else if ((event.key === 'Enter' || event.key === 'Tab') && isPlain && !isWhole) {
      choose(active)
    } else {
      return false
    }
    event.preventDefault()
    return true
  }
  useImperativeHandle(ref, () => ({ take }))
  useLayoutEffect(() => {
    onActive(activeId)
    return () => onActive(null)
  }, [onActive, activeId])

  return (
    <>
      <p role="status" className="sr-only">
        {active !== undefined && texts.count(suggestions.length)}
      </p>
      {active !== undefined && (
        <div
          className={classes(
            'absolute inset-x-0 z-30 max-md:mx-2 flex max-h-80 flex-col rounded-panel bg-panel shadow-float',
            begins ? 'top-full mt-1' : 'bottom-full mb-1',
          )}
        >
          <div
            id={id}
            role="listbox"
            aria-label={typing.kind === 'command' ? texts.commands : texts.mentions}
            className="min-h-0 flex-1 overflow-y-auto p-1"
          >
            {suggestions.map((suggestion, index) => (
              <Option
                key={suggestion.id}
                id={`${id}-${suggestion.id}`}
                suggestion={suggestion}
                active={suggestion === active}
                onChoose={() => choose(suggestion)}
                onPoint={() => setMoved({ text, at: index })}
              />
            ))}
          </div>
          {!begins && typing.kind === 'command' && (
            <p className="flex-none border-t border-line-soft px-3 py-1.5 text-meta text-muted">
              {texts.whileWorking}
            </p>
          )}
          {notes.length > 0 && (
            <div className="flex-none border-t border-line-soft px-3 py-1.5 text-meta text-muted wrap-anywhere">
              <p className="line-clamp-4">{notes.join(' ')}</p>
            </div>
          )}
        </div>
      )}
    </>
  )
}

/** How long typing must pause before files are searched for, in milliseconds. */
const restMs = 150

function useMatches({ agent, place, typing, begins }: SuggestionListProps): {
  readonly found: readonly Suggestion[]
  /** Sentences that say which files of commands, skills or subagents were left out, and why. */
  readonly notes: readonly string[]
} {
  const { kind, typed } = typing
  const abilities = useAbilitiesQuery(place === null ? skipToken : { place, agent })
  const [search, setSearch] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed), restMs)
    return () => clearTimeout(timer)
  }, [typed])
  const files = useFoundFilesQuery(place === null || kind === 'command' ? skipToken : { place, search })
  const found =
    kind === 'command'
      ? commandSuggestions(agent, abilities.data?.abilities, { typed, begins })
      : mentionSuggestions(abilities.data?.abilities ?? [], files.data?.files ?? [], typed)
  return { found, notes: abilities.data?.notes ?? [] }
}

interface OptionProps {
  readonly id: string
  readonly suggestion: Suggestion
  readonly active: boolean
  readonly onChoose: () => void
  readonly onPoint: () => void
}

function Option({ id, suggestion: { label, argument, help }, active, onChoose, onPoint }: OptionProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the text field has the keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={active}
      ref={active ? scrollIntoView : undefined}
      // Keeps the focus in the text field.
      onPointerDown={(event) => event.preventDefault()}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      onPointerMove={onPoint}
      className={classes(
        'flex min-h-11 cursor-default flex-col justify-center rounded-control px-2 py-1 text-ui md:min-h-8 md:flex-row md:items-center md:justify-start md:gap-2',
        active && 'bg-raised',
      )}
    >
      <span className={classes('font-mono text-code wrap-anywhere', help !== '' && 'md:w-56 md:flex-none')}>
        {label}
        {argument !== null && <span className="text-muted"> {argument}</span>}
      </span>
      <span className="line-clamp-2 min-w-0 text-meta text-muted">{help}</span>
    </div>
  )
}
