/** The agent's commands, offered while a message begins with a slash. The focus stays in the box, whose keys walk the list. */
import { useId, useState, type KeyboardEvent } from 'react'
import type { AgentName } from '#domain/task/events.ts'
import { slashCommands, type SlashCommand } from '#domain/task/slashCommands.ts'
import { SlashList } from './SlashList.tsx'

interface Writing {
  readonly agent: AgentName
  readonly text: string
  readonly onWrite: (text: string) => void
  /** A task's first words are written, or its next message: the list lies below the box then, or above it. */
  readonly begins: boolean
  /** What is written is no message to the agent. */
  readonly off?: boolean
}

export function useSlashCommands({ agent, text, onWrite, begins, off = false }: Writing) {
  const listId = useId()
  const [focused, setFocused] = useState(false)
  /** The words at which the list was closed: it opens again with other ones. */
  const [closedAt, setClosedAt] = useState<string | null>(null)
  const [walked, setWalked] = useState({ text: '', at: 0 })

  const typed = /^\/([a-z-]*)$/.exec(text)?.[1]
  const shown =
    typed === undefined || off
      ? []
      : slashCommands[agent].filter(({ name, later }) => name.includes(typed) && !(begins && later))
  const open = focused && shown.length > 0 && closedAt !== text
  const at = walked.text === text ? walked.at : 0
  const active = open ? shown[at] : undefined

  const choose = ({ name, argument }: SlashCommand) => {
    const next = argument === null ? `/${name}` : `/${name} `
    onWrite(next)
    setClosedAt(next)
  }
  /** Whether the key was for the list. */
  const take = (event: KeyboardEvent): boolean => {
    if (active === undefined || event.nativeEvent.isComposing) return false
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey
    if (step !== undefined && isPlain) {
      setWalked({ text, at: (at + step + shown.length) % shown.length })
    } else if (event.key === 'Escape') {
      setClosedAt(text)
    } else if ((event.key === 'Enter' || event.key === 'Tab') && isPlain && active.name !== typed) {
      choose(active)
    } else {
      return false
    }
    event.preventDefault()
    return true
  }

  return {
    take,
    /** For the box. */
    field: {
      'aria-haspopup': 'listbox',
      'aria-autocomplete': 'list',
      'aria-controls': open ? listId : undefined,
      'aria-activedescendant': active && `${listId}-${active.name}`,
    } as const,
    setFocused,
    list: open ? (
      <SlashList
        id={listId}
        commands={shown}
        active={active}
        side={begins ? 'below' : 'above'}
        onChoose={choose}
        onPoint={(index) => setWalked({ text, at: index })}
      />
    ) : null,
  }
}
