/** The agent's commands with a line of help each, beside the text field. The field keeps the focus and passes its keys on. */
import { useImperativeHandle, useLayoutEffect, useState, type KeyboardEvent, type Ref } from 'react'
import type { AgentName } from '#domain/agents.ts'
import { slashCommandsOf, type SlashCommand } from '#domain/task/slashCommands.ts'
import { classes } from '../../ui/classes.ts'
import { isComposingKey } from '../../ui/composition.ts'
import { scrollIntoView } from '../../ui/scrollIntoView.ts'

const texts = {
  commands: "The agent's commands",
  whileWorking: 'While the agent works, commands wait until it finishes.',
} as const

export interface SlashKeys {
  /** Handles a key of the field; returns whether it was for the list. */
  take(event: KeyboardEvent): boolean
}

interface SlashListProps {
  readonly id: string
  readonly agent: AgentName
  readonly text: string
  readonly begins: boolean
  readonly onWrite: (text: string) => void
  readonly ref: Ref<SlashKeys>
  /** Receives the id of the active option; `null` while the list is closed. */
  readonly onActive: (id: string | null) => void
}

export function SlashList({ id, agent, text, begins, onWrite, ref, onActive }: SlashListProps) {
  /** The text at which the list was closed: it opens again when the text changes. */
  const [closedAt, setClosedAt] = useState<string | null>(null)
  const [moved, setMoved] = useState({ text: '', at: 0 })
  const typed = text.slice(1)
  const commands =
    closedAt === text
      ? []
      : slashCommandsOf(agent).filter(({ name, needsTurn }) => name.includes(typed) && !(begins && needsTurn))
  const at = moved.text === text ? moved.at : 0
  const active = commands[at]
  const activeId = active === undefined ? null : `${id}-${active.name}`

  const choose = ({ name, argument }: SlashCommand) => {
    const next = argument === null ? `/${name}` : `/${name} `
    onWrite(next)
    setClosedAt(next)
  }
  const take = (event: KeyboardEvent): boolean => {
    if (active === undefined || isComposingKey(event.nativeEvent)) return false
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey
    if (step !== undefined && isPlain) {
      setMoved({ text, at: (at + step + commands.length) % commands.length })
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
  useImperativeHandle(ref, () => ({ take }))
  useLayoutEffect(() => {
    onActive(activeId)
    return () => onActive(null)
  }, [onActive, activeId])

  if (active === undefined) return null
  return (
    <div
      className={classes(
        'absolute inset-x-0 z-30 max-md:mx-2 flex max-h-80 flex-col rounded-panel bg-panel shadow-float',
        begins ? 'top-full mt-1' : 'bottom-full mb-1',
      )}
    >
      <div id={id} role="listbox" aria-label={texts.commands} className="min-h-0 flex-1 overflow-y-auto p-1">
        {commands.map((command, index) => (
          <Option
            key={command.name}
            id={`${id}-${command.name}`}
            command={command}
            active={command === active}
            onChoose={() => choose(command)}
            onPoint={() => setMoved({ text, at: index })}
          />
        ))}
      </div>
      {!begins && (
        <p className="flex-none border-t border-line-soft px-3 py-1.5 text-meta text-muted">
          {texts.whileWorking}
        </p>
      )}
    </div>
  )
}

interface OptionProps {
  readonly id: string
  readonly command: SlashCommand
  readonly active: boolean
  readonly onChoose: () => void
  readonly onPoint: () => void
}

function Option({ id, command, active, onChoose, onPoint }: OptionProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the text field has the keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={active}
      ref={active ? scrollIntoView : undefined}
      // The field keeps the focus.
      onPointerDown={(event) => event.preventDefault()}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      onPointerMove={onPoint}
      className={classes(
        'flex min-h-11 cursor-default flex-col justify-center rounded-control px-2 py-1 text-ui md:min-h-8 md:flex-row md:items-center md:justify-start',
        active && 'bg-raised',
      )}
    >
      <span className="font-mono text-code md:w-56 md:flex-none">
        /{command.name}
        {command.argument !== null && <span className="text-muted"> {command.argument}</span>}
      </span>
      <span className="text-meta text-muted">{command.help}</span>
    </div>
  )
}
