/** A line above the message box: what the agent is doing and since when, with a stop button. */
import { Square } from 'lucide-react'
import { useSelector } from 'react-redux'
import { selectLive } from '../../../../live/connection.ts'
import { Button } from '../../../../ui/form/Button.tsx'
import { elapsed } from '../../../../ui/text/times.ts'
import { KeyCap } from '../../../../ui/text/KeyCap.tsx'
import { Status } from '../../../../ui/status/Status.tsx'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { LogDocument } from '#domain/views/commandLog.ts'
import { useNow } from '../../../../ui/hooks.ts'
import { texts } from '../texts.ts'

interface TurnHeadProps {
  readonly task: Task
  readonly tools: Readonly<Record<string, LogDocument>>
  readonly cancel: () => void
  readonly cancelling: boolean
}

export function TurnHead({ task, tools, cancel, cancelling }: TurnHeadProps) {
  const live = useSelector(selectLive)
  const now = useNow(1_000, live)
  const { execution } = task
  const tool = Object.values(tools).findLast(
    ({ status, executionId }) => status === 'running' && executionId === execution?.id,
  )
  const isCommand = execution?.kind === 'command'
  const isWaiting = task.waitingFor !== null
  const since = execution?.startedAt ?? execution?.requestedAt ?? null
  return (
    <div className="flex h-8 items-center gap-2 border-b border-line-soft pr-1 pl-3 text-meta">
      <Status status={isWaiting && !cancelling ? 'waiting' : 'running'} small wordHidden>
        <span className="max-w-40 truncate">
          {cancelling
            ? texts.composer.stopping
            : isWaiting
              ? texts.composer.waitingForYou
              : isCommand
                ? activities.run
                : tool === undefined
                  ? texts.composer.working
                  : activity(tool)}
        </span>
      </Status>
      <span className="min-w-0 flex-1 truncate text-muted">
        {execution !== null &&
          since !== null &&
          (isCommand
            ? elapsed(now - Date.parse(since))
            : texts.composer.turn(execution.turn, elapsed(now - Date.parse(since))))}
      </span>
      <Button
        kind="ghost"
        size="touch"
        icon={<Square className="size-3 fill-current" />}
        busy={cancelling}
        onClick={cancel}
      >
        {texts.composer.stop}
        <KeyCap>esc</KeyCap>
      </Button>
    </div>
  )
}

const activities: Readonly<Partial<Record<LogDocument['kind'], string>>> = {
  read: 'Reading',
  edit: 'Editing',
  run: 'Running a command',
  search: 'Searching',
  fetch: 'Fetching',
  todo: 'Planning',
  thinking: 'Thinking',
}

function activity({ kind, name }: LogDocument): string {
  return kind === 'other' && name !== null ? name : (activities[kind] ?? 'Working')
}
