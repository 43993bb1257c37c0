/** The agent's commands, offered while a message begins with a slash. Their list is a chunk of its own, loaded with the first slash. */
import { Suspense, useId, useRef, useState, type KeyboardEvent } from 'react'
import type { AgentName } from '#domain/agents.ts'
import { optionalPart } from '../../ui/optionalPart.ts'
import type { SlashKeys } from './SlashList.tsx'

interface SlashCommandsOptions {
  readonly agent: AgentName
  readonly text: string
  readonly onWrite: (text: string) => void
  /** Whether the text begins a task. Then the list is below the field, otherwise above it. */
  readonly begins: boolean
  /** Whether the text is not for the agent. */
  readonly off?: boolean
}

const SlashList = optionalPart(async () => (await import('./SlashList.tsx')).SlashList)

export function useSlashCommands({ off = false, text, ...options }: SlashCommandsOptions) {
  const listId = useId()
  const [focused, setFocused] = useState(false)
  const [active, setActive] = useState<string | null>(null)
  const keys = useRef<SlashKeys>(null)
  const isOpen = focused && !off && /^\/[a-z-]*$/.test(text)
  return {
    /** Handles a key of the field; returns whether it was for the list. */
    take: (event: KeyboardEvent): boolean => isOpen && keys.current?.take(event) === true,
    /** Props for the field, which keeps the focus. */
    field: {
      'aria-haspopup': 'listbox',
      'aria-autocomplete': 'list',
      'aria-controls': active === null ? undefined : listId,
      'aria-activedescendant': active ?? undefined,
    } as const,
    setFocused,
    list: isOpen && (
      <Suspense fallback={null}>
        <SlashList {...options} id={listId} text={text} ref={keys} onActive={setActive} />
      </Suspense>
    ),
  }
}
