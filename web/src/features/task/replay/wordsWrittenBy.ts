/** Finds text that an agent had written by a time, but that was recorded later. A replay shows such text as it was written. Pure. */
import type { MessageFragment } from '#domain/api/chat.schema.ts'
import type { DeltaItem, HistoryItem } from '#domain/history/item.ts'

/** How many later items are searched: text is recorded soon after it was written, even among much output. */
const lookedThrough = 200

/** The text that was written by `time` (in milliseconds since 1970), but recorded in items after `index`. */
export function wordsWrittenBy(
  items: readonly HistoryItem[],
  index: number,
  time: number,
): readonly MessageFragment[] {
  const words: MessageFragment[] = []
  const end = Math.min(items.length, index + 1 + lookedThrough)
  for (let at = index + 1; at < end; at += 1) {
    const item = items[at]
    if (item?.kind !== 'delta') continue
    const part = partBy(item, time)
    if (part !== null) words.push(part)
  }
  return words
}

function partBy({ delta, begunAt, chunks }: DeltaItem, time: number): MessageFragment | null {
  const since = time - Date.parse(begunAt)
  if (since < 0) return null
  let length = 0
  for (const [characters = 0, ms = 0] of chunks) if (ms <= since) length += characters
  if (length === 0) return null
  const { taskId, messageId, executionId, offset, text } = delta
  return { taskId, messageId, executionId, offset, text: text.slice(0, length) }
}
