/** The agent's commands, offered while a message begins with a slash. The list is a chunk of its own, asked for with the first slash. */
import { lazy, Suspense, useId, useRef, useState, type KeyboardEvent } from 'react'
import type { AgentName } from '#domain/agents.ts'
import type { SlashKeys } from './SlashList.tsx'

interface Writing {
  readonly agent: AgentName
  readonly text: string
  readonly onWrite: (text: string) => void
  /** A task's first words are written, or its next message: the list lies below the box then, or above it. */
  readonly begins: boolean
  /** What is written is no message to the agent. */
  readonly off?: boolean
}

/** Where the chunk does not come, a command is typed without help. */
const SlashList = lazy(() =>
  import('./SlashList.tsx').then(
    (loaded) => ({ default: loaded.SlashList }),
    () => ({ default: () => null }),
  ),
)

export function useSlashCommands({ off = false, text, ...writing }: Writing) {
  const listId = useId()
  const [focused, setFocused] = useState(false)
  const [active, setActive] = useState<string | null>(null)
  const keys = useRef<SlashKeys>(null)
  const isWanted = focused && !off && /^\/[a-z-]*$/.test(text)
  return {
    /** Whether the key was for the list. */
    take: (event: KeyboardEvent): boolean => isWanted && keys.current?.take(event) === true,
    /** For the box, which keeps the focus. */
    field: {
      'aria-haspopup': 'listbox',
      'aria-autocomplete': 'list',
      'aria-controls': active === null ? undefined : listId,
      'aria-activedescendant': active ?? undefined,
    } as const,
    setFocused,
    list: isWanted && (
      <Suspense fallback={null}>
        <SlashList {...writing} id={listId} text={text} ref={keys} onActive={setActive} />
      </Suspense>
    ),
  }
}
