/** How many messages came since somebody went away from the end of the chat. */
import { useState } from 'react'
import type { ChatEntry } from './chatTimeline.ts'

export function useUnread(entries: readonly ChatEntry[], following: boolean): number {
  // Where the chat ended when it was left; `null` while it is followed.
  const [leftAt, setLeftAt] = useState<string | null>(null)
  if (following && leftAt !== null) setLeftAt(null)
  if (!following && leftAt === null) setLeftAt(endOf(entries))
  return following || leftAt === null ? 0 : cameAfter(entries, leftAt)
}

/** Where the last message stands. */
export function endOf(entries: readonly ChatEntry[]): string {
  return entries.reduce((end, entry) => ordersOf(entry).reduce((a, b) => (a > b ? a : b), end), '')
}

/** Messages after a place: earlier ones that are read meanwhile do not count. */
export function cameAfter(entries: readonly ChatEntry[], place: string): number {
  return entries.reduce((count, entry) => count + ordersOf(entry).filter((order) => order > place).length, 0)
}

/** Where an entry's messages stand; tool calls are no messages. */
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
