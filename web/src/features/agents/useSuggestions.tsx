/**
 * Suggests commands while the text is a slash with part of a name, and files and subagents after an `@`. The list of suggestions is a chunk of its
 * own, loaded when it is first needed.
 */
import { Suspense, useId, useRef, useState, type KeyboardEvent, type SyntheticEvent } from 'react'
import type { AgentName } from '#domain/agents.ts'
import { optionalPart } from '../../ui/optionalPart.tsx'
import type { WritingPlace } from './abilitiesApi.ts'
import type { SuggestionKeys } from './SuggestionList.tsx'
import { typingAt } from './typingAt.ts'

interface SuggestionsOptions {
  readonly agent: AgentName
  /** The task, or the project of a new task, that the message is for; `null` until that is known. */
  readonly place: WritingPlace | null
  readonly text: string
  readonly onWrite: (text: string) => void
  /** Whether the text is the first message of a task. If so, the list is below the field, otherwise above it. */
  readonly begins: boolean
  /** Whether suggestions are switched off, because the text is not for the agent. */
  readonly off?: boolean
}

const SuggestionList = optionalPart(async () => (await import('./SuggestionList.tsx')).SuggestionList)

export function useSuggestions({ off = false, text, onWrite, ...options }: SuggestionsOptions) {
  const listId = useId()
  const [focused, setFocused] = useState(false)
  const [active, setActive] = useState<string | null>(null)
  const [caret, setCaret] = useState({ text: '', at: 0 })
  const field = useRef<HTMLTextAreaElement>(null)
  const keys = useRef<SuggestionKeys>(null)
  const typing = focused && !off ? typingAt(text, caret.text === text ? caret.at : text.length) : null
  const onChoose = (next: string, at: number) => {
    onWrite(next)
    setCaret({ text: next, at })
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at))
  }
  return {
    /** Handles a key pressed in the field; returns whether the key was for the list. */
    take: (event: KeyboardEvent): boolean => typing !== null && keys.current?.take(event) === true,
    /** Props for the field, which keeps the focus. */
    field: {
      'aria-haspopup': 'listbox',
      'aria-autocomplete': 'list',
      'aria-controls': active === null ? undefined : listId,
      'aria-activedescendant': active ?? undefined,
      onSelect: ({ currentTarget }: SyntheticEvent<HTMLTextAreaElement>) => {
        field.current = currentTarget
        setCaret({ text: currentTarget.value, at: currentTarget.selectionStart })
      },
    } as const,
    setFocused,
    list: typing !== null && (
      <Suspense fallback={null}>
        <SuggestionList
          {...options}
          {...{ id: listId, text, typing, onChoose }}
          ref={keys}
          onActive={setActive}
        />
      </Suspense>
    ),
  }
}
