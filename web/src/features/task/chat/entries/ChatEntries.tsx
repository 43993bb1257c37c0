/** The entries of the chat, grouped by day. */
import { Fragment, memo, useState } from 'react'
import type { Task } from '#domain/api/tasks.schema.ts'
import { dayLabel } from '../../../../ui/text/times.ts'
import { useTaskNow } from '../../replayContext.ts'
import { samePart, type ChatEntry } from '../chatTimeline.ts'
import { MessageOutsideTurn } from './MessageOutsideTurn.tsx'
import { OutgoingMessageEntry } from './OutgoingMessageEntry.tsx'
import { TaskImages } from './MessagePictures.tsx'
import { TimeContext } from './MessageHead.tsx'
import { Turn, type TurnUsage } from './Turn.tsx'

interface ChatEntriesProps {
  readonly entries: readonly ChatEntry[]
  readonly task: Task
  /** Whether the list is scrolled to its end and follows it. */
  readonly following: boolean
  /** Whether a message was seen while it was being written: if so, it stays expanded while its turn is the latest. */
  readonly wasSeen: (messageId: string) => boolean
  readonly onResend: (id: string) => void
  readonly onDiscard: (id: string) => void
}

export function ChatEntries({ entries, task, following, wasSeen, onResend, onDiscard }: ChatEntriesProps) {
  const now = useTaskNow(20_000)
  const keptOpen = useKeptOpen(entries, following)
  return (
    <TimeContext value={now}>
      <TaskImages task={task} />
      {entries.map((each, index) => {
        // The first rendered entry is never grouped, so that it has a head.
        const entry =
          index === 0 && each.kind === 'message' && each.grouped ? { ...each, grouped: false } : each
        const label = dayLabel(entry.at, now)
        const before = entries[index - 1]
        const isNewDay = before === undefined || dayLabel(before.at, now) !== label
        return (
          <Fragment key={entry.key}>
            {isNewDay && (
              <div className="mx-4 mt-3 -mb-1 flex items-center gap-3 text-meta/5 text-muted before:h-px before:flex-1 before:bg-line-soft after:h-px after:flex-1 after:bg-line-soft">
                {label}
              </div>
            )}
            {entry.kind === 'sent' ? (
              <OutgoingMessageEntry
                sent={entry.sent}
                taskId={task.id}
                onResend={onResend}
                onDiscard={onDiscard}
              />
            ) : (
              <Entry
                entry={entry}
                taskId={task.id}
                execution={entry.kind === 'turn' && entry.live ? task.execution : null}
                usage={entry.key === task.execution?.id ? task.execution.usage : undefined}
                keptOpen={keptOpen.has(entry.key)}
                isUndone={isUndone(entry, task)}
                wasSeen={wasSeen}
              />
            )}
          </Fragment>
        )
      })}
    </TimeContext>
  )
}

/**
 * The turns whose text stays expanded if it was seen while it was written. While the end of the chat is followed, this is the latest turn. When
 * somebody scrolls up, it is the turn that was the latest then, and all later turns.
 */
function useKeptOpen(entries: readonly ChatEntry[], following: boolean): ReadonlySet<string> {
  const turns = entries.flatMap(({ kind, key }) => (kind === 'turn' ? [key] : []))
  const latest = turns.at(-1) ?? null
  const [first, setFirst] = useState(latest)
  // While the list follows its end, the reader sees the end, so collapsing earlier turns moves nothing that is being read.
  if (following && first !== latest) setFirst(latest)
  const from = first === null ? -1 : turns.indexOf(first)
  return new Set(from === -1 ? turns.slice(-1) : turns.slice(from))
}

interface EntryProps {
  readonly entry: Exclude<ChatEntry, { kind: 'sent' }>
  readonly taskId: string
  readonly execution: Task['execution']
  readonly usage: TurnUsage | undefined
  readonly keptOpen: boolean
  readonly isUndone: boolean
  readonly wasSeen: (messageId: string) => boolean
}

/** An entry that renders only when it changes: a long chat must not slow down the entry that is being written. */
const Entry = memo(
  function Entry({ entry, taskId, execution, usage, keptOpen, isUndone, wasSeen }: EntryProps) {
    return entry.kind === 'turn' ? (
      <Turn
        turn={entry}
        taskId={taskId}
        execution={execution}
        usage={usage}
        isUndone={isUndone}
        wasSeen={keptOpen ? wasSeen : notSeen}
      />
    ) : (
      <MessageOutsideTurn entry={entry} taskId={taskId} isUndone={isUndone} />
    )
  },
  (a, b) =>
    a.taskId === b.taskId &&
    a.execution === b.execution &&
    a.usage === b.usage &&
    a.keptOpen === b.keptOpen &&
    a.isUndone === b.isUndone &&
    sameEntry(a.entry, b.entry),
)

function isUndone(entry: EntryProps['entry'], { undone }: Task): boolean {
  const executionId = entry.kind === 'turn' ? entry.key : entry.message.executionId
  return executionId !== null && undone?.includes(executionId) === true
}

function notSeen(): boolean {
  return false
}

function sameEntry(a: ChatEntry, b: ChatEntry): boolean {
  if (a.kind === 'message' && b.kind === 'message') return a.message === b.message && a.grouped === b.grouped
  if (a.kind === 'turn' && b.kind === 'turn') {
    return (
      a.live === b.live &&
      a.status === b.status &&
      a.at === b.at &&
      a.partial === b.partial &&
      a.parts.length === b.parts.length &&
      a.parts.every((part, index) => samePart(part, b.parts[index]))
    )
  }
  return false
}
