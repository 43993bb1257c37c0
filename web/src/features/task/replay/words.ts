/** Words that an agent had written at a time, and that no event had recorded yet: they are shown as they came, not in pieces. Pure. */
import type { MessageWords } from '#domain/api/chat.schema.ts'
import type { DeltaItem, HistoryItem } from '#domain/history/item.ts'

/** Words are recorded within a moment of being written: so many events further on at most, even where much is printed. */
const lookedThrough = 200

/** What of the items after an index was written by a time (ms since the epoch). */
export function wordsBy(items: readonly HistoryItem[], index: number, time: number): readonly MessageWords[] {
  const words: MessageWords[] = []
  const end = Math.min(items.length, index + 1 + lookedThrough)
  for (let at = index + 1; at < end; at += 1) {
    const item = items[at]
    if (item?.kind !== 'delta') continue
    const said = partBy(item, time)
    if (said !== null) words.push(said)
  }
  return words
}

function partBy({ delta, begunAt, chunks }: DeltaItem, time: number): MessageWords | null {
  const since = time - Date.parse(begunAt)
  if (since < 0) return null
  let length = 0
  for (const [characters = 0, ms = 0] of chunks) if (ms <= since) length += characters
  if (length === 0) return null
  const { taskId, messageId, executionId, offset, text } = delta
  return { taskId, messageId, executionId, offset, text: text.slice(0, length) }
}
