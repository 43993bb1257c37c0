/** Announces to screen readers what a sighted person would notice: the agent is done or has a question. Never the text word by word. */
import { useState } from 'react'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { ChatEntry } from './chatTimeline.ts'
import { texts } from './texts.ts'

interface AnnouncerProps {
  readonly status: Task['status']
  readonly entries: readonly ChatEntry[]
}

export function Announcer({ status, entries }: AnnouncerProps) {
  const [before, setBefore] = useState(status)
  const [said, setSaid] = useState('')
  if (before !== status) {
    setBefore(status)
    setSaid(announcement(before, status, entries))
  }
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  )
}

/** The announcement for a status change; a failure is announced by its own alert. */
export function announcement(
  before: Task['status'],
  status: Task['status'],
  entries: readonly ChatEntry[],
): string {
  if (before !== 'running' && before !== 'queued') return ''
  if (status === 'cancelled') return texts.chat.stopped
  if (status !== 'completed') return ''
  const last = entries.findLast((entry) => entry.kind === 'turn')
  const words = last?.parts.findLast((part) => part.kind === 'text')?.message.message?.trim() ?? ''
  const question = words.split(/\n+/).at(-1) ?? ''
  return question.endsWith('?') ? texts.chat.asks(question) : texts.chat.finished
}
