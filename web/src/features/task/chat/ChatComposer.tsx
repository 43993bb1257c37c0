/** The dock below the chat: what waits, what runs, and the box in which the next message is written. */
import { ArrowUp, Square, Terminal } from 'lucide-react'
import { useState, type KeyboardEvent } from 'react'
import { useSelector } from 'react-redux'
import type { Task } from '#domain/api/tasks.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import type { LogDocument } from '#domain/views/log.ts'
import { selectLive } from '../../../live/connection.ts'
import { Button } from '../../../ui/Button.tsx'
import { classes } from '../../../ui/classes.ts'
import { elapsed } from '../../../ui/clock.ts'
import { IconButton } from '../../../ui/IconButton.tsx'
import { KeyCap } from '../../../ui/KeyCap.tsx'
import { Status } from '../../../ui/Status.tsx'
import { TextArea } from '../../../ui/TextArea.tsx'
import { useNow } from '../../../ui/useNow.ts'
import { useTaskActions } from '../useTaskActions.ts'
import { Queue } from './Queue.tsx'
import { texts } from './texts.ts'

interface ChatComposerProps {
  readonly task: Task
  readonly tools: Readonly<Record<string, LogDocument>>
  readonly queue: readonly MessageDocument[]
  readonly onSend: (text: string, isCommand: boolean) => void
}

/** Section 9. */
const tallest = 120

export function ChatComposer({ task, tools, queue, onSend }: ChatComposerProps) {
  const [text, setText] = useState('')
  const [isCommand, setCommand] = useState(false)
  const { cancel, cancelling } = useTaskActions(task)
  const running = task.status === 'running'
  const empty = text.trim() === ''

  const submit = () => {
    if (empty) return
    onSend(text.trim(), isCommand)
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that ends a composed character is not a wish to send.
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      submit()
    } else if (event.key === 'Escape') {
      if (isCommand) setCommand(false)
      else if (running && empty && !cancelling) cancel()
      else return
      event.preventDefault()
      event.stopPropagation()
    }
  }

  return (
    <div className="flex-none px-2 pb-2 md:px-4 md:pb-4">
      <Queue task={task} queue={queue} onSend={onSend} />
      <div className="rounded-panel border border-control bg-panel focus-within:border-accent focus-within:ring focus-within:ring-accent">
        {isCommand ? (
          <p className="flex min-h-8 items-center border-b border-line-soft px-3 py-1 text-meta text-muted">
            {texts.composer.commandBanner}
          </p>
        ) : (
          running && <TurnHead task={task} tools={tools} cancel={cancel} cancelling={cancelling} />
        )}
        <TextArea
          label={texts.composer.label}
          placeholder={isCommand ? texts.composer.commandPlaceholder : texts.composer.placeholder}
          minHeight={44}
          maxHeight={tallest}
          maxLength={50_000}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          className={classes(
            'px-3 pt-2.5 pb-1 text-input md:text-body',
            isCommand && 'font-mono md:text-code',
          )}
        />
        <div className="flex items-center gap-0.5 px-1.5 pt-1 pb-1.5">
          <IconButton
            icon={Terminal}
            label={texts.composer.command}
            aria-pressed={isCommand}
            onClick={() => setCommand(!isCommand)}
            className="aria-pressed:bg-raised aria-pressed:text-text"
          />
          <span className="flex-1" />
          <Usage task={task} />
          <IconButton
            icon={ArrowUp}
            label={texts.composer.send}
            kind="primary"
            size="small"
            disabled={empty}
            onClick={submit}
          />
        </div>
      </div>
    </div>
  )
}

interface TurnHeadProps {
  readonly task: Task
  readonly tools: Readonly<Record<string, LogDocument>>
  readonly cancel: () => void
  readonly cancelling: boolean
}

/** What the agent is at, since when, and the way to stop it. */
function TurnHead({ task, tools, cancel, cancelling }: TurnHeadProps) {
  const live = useSelector(selectLive)
  const now = useNow(1_000, live)
  const { execution } = task
  const tool = Object.values(tools).findLast(
    ({ status, executionId }) => status === 'running' && executionId === execution?.id,
  )
  const since = execution?.startedAt ?? execution?.requestedAt ?? null
  return (
    <div className="flex h-10 items-center gap-2 border-b border-line-soft pr-1 pl-3 text-meta md:h-8">
      <Status status="running" small wordHidden>
        <span className="max-w-40 truncate">
          {tool === undefined ? texts.composer.working : activity(tool)}
        </span>
      </Status>
      <span className="min-w-0 flex-1 truncate text-muted">
        {execution !== null &&
          since !== null &&
          texts.composer.turn(execution.turn, elapsed(now - Date.parse(since)))}
      </span>
      <Button
        kind="ghost"
        size="small"
        icon={<Square className="size-3 fill-current" />}
        busy={cancelling}
        onClick={cancel}
      >
        {texts.composer.stop}
        <span className="hidden md:inline-flex">
          <KeyCap>esc</KeyCap>
        </span>
      </Button>
    </div>
  )
}

const activities: Readonly<Record<LogDocument['kind'], string>> = {
  read: 'Reading',
  edit: 'Editing',
  run: 'Running a command',
  search: 'Searching',
  fetch: 'Fetching',
  todo: 'Planning',
  other: 'Working',
}

function activity({ kind, name }: LogDocument): string {
  return kind === 'other' && name !== null ? name : activities[kind]
}

function Usage({ task: { usage } }: { readonly task: Task }) {
  const tokens = usage.inputTokens + usage.outputTokens
  if (tokens === 0) return null
  const count = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
    .format(tokens)
    .toLowerCase()
  const cost = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(usage.costUsd)
  return (
    <span className="mr-2.5 hidden text-meta text-muted md:inline">{texts.composer.usage(count, cost)}</span>
  )
}
