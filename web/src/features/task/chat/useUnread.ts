/** Counts the messages since somebody scrolled away from the end of the chat. */
import { useState } from 'react'
import type { ChatEntry } from './chatTimeline.ts'

export function useUnread(entries: readonly ChatEntry[], following: boolean): number {
  // The end of the chat when it was left; `null` while it is followed.
  const [leftAt, setLeftAt] = useState<string | null>(null)
  if (following && leftAt !== null) setLeftAt(null)
  if (!following && leftAt === null) setLeftAt(endOf(entries))
  return following || leftAt === null ? 0 : cameAfter(entries, leftAt)
}

/** The order of the last message. */
export function endOf(entries: readonly ChatEntry[]): string {
  return entries.reduce((end, entry) => ordersOf(entry).reduce((a, b) => (a > b ? a : b), end), '')
}

/** The number of messages after a place; earlier ones that are loaded meanwhile do not count. */
export function cameAfter(entries: readonly ChatEntry[], place: string): number {
  return entries.reduce((count, entry) => count + ordersOf(entry).filter((order) => order > place).length, 0)
}

/** The orders of an entry's messages; tool calls do not count. */
function ordersOf(entry: ChatEntry): readonly string[] {
  switch (entry.kind) {
    case 'message':
      return [entry.message.order]
    case 'turn':
      return entry.parts.flatMap((part) => (part.kind === 'text' ? [part.order] : []))
    case 'sent':
      return []
  }
}
