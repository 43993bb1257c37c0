/** The agent's commands with a line of help each, beside the field in which one is written. The field passes its keys on. */
import { useImperativeHandle, useLayoutEffect, useState, type KeyboardEvent, type Ref } from 'react'
import type { AgentName } from '#domain/agents.ts'
import { slashCommandsOf, type SlashCommand } from '#domain/task/slashCommands.ts'
import { classes } from '../../ui/classes.ts'
import { isComposingKey } from '../../ui/composition.ts'

const texts = {
  commands: "The agent's commands",
  whileWorking: 'While the agent works, commands wait until it finishes.',
} as const

/** What the field asks of each key. */
export interface SlashKeys {
  /** Whether the key was for the list. */
  take(event: KeyboardEvent): boolean
}

interface SlashListProps {
  readonly id: string
  readonly agent: AgentName
  readonly text: string
  readonly begins: boolean
  readonly onWrite: (text: string) => void
  readonly ref: Ref<SlashKeys>
  /** Told the id of the option that the keys are at; `null` while the list is closed. */
  readonly onActive: (id: string | null) => void
}

export function SlashList({ id, agent, text, begins, onWrite, ref, onActive }: SlashListProps) {
  /** The words at which the list was closed: it opens again with other ones. */
  const [closedAt, setClosedAt] = useState<string | null>(null)
  const [walked, setWalked] = useState({ text: '', at: 0 })
  const typed = text.slice(1)
  const shown =
    closedAt === text
      ? []
      : slashCommandsOf(agent).filter(({ name, needsTurn }) => name.includes(typed) && !(begins && needsTurn))
  const at = walked.text === text ? walked.at : 0
  const active = shown[at]
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
        {shown.map((command, index) => (
          <Option
            key={command.name}
            id={`${id}-${command.name}`}
            command={command}
            active={command === active}
            onChoose={() => choose(command)}
            onPoint={() => setWalked({ text, at: index })}
          />
        ))}
      </div>
      {/* Also one that is sent to the turn that runs: the agent takes it as the next. */}
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
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the field in which it is written has the keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={active}
      ref={active ? intoView : undefined}
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

/** Keeps the active command in sight while the keys walk. */
function intoView(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' })
}
