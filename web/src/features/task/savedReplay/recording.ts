/** What a saved replay holds of a task: its history, and what the history does not say. It holds no token, no address and no image. */
import type { HistoryItem } from '#domain/history/item.ts'
import type { Names } from '#domain/history/rows.ts'
import type { HistorySource, Missing } from '../history/readHistory.ts'
import type { TaskBase } from '../history/replayState.ts'

/** Changes with the shape; the player comes in the same file, so that there is nothing to convert. */
const format = 1

export interface Recording {
  readonly format: typeof format
  /** ISO 8601. */
  readonly savedAt: string
  readonly base: TaskBase
  readonly names: Names
  readonly items: readonly HistoryItem[]
  readonly missing: readonly Missing[]
}

interface Recorded {
  readonly source: Pick<HistorySource, 'page'>
  readonly base: TaskBase
  readonly names: Names
}

/** Reads the whole history anew: what was erased since the page opened is not in it. Resolves with why it cannot be read. */
export async function readRecording(
  { source, base: { id, project }, names }: Recorded,
  signal: AbortSignal,
): Promise<Recording | { readonly reason: string }> {
  const items: HistoryItem[] = []
  let missing: readonly Missing[] = []
  let next: string | undefined
  for (let more = true; more;) {
    const page = await source.page(next, signal, 'replay')
    if ('reason' in page) return page
    for (const item of page.items) items.push(item)
    ;({ next, more, missing } = page)
  }
  // The address of an image lets whoever has it read the image.
  const base = { id, project, images: [] }
  return { format, savedAt: new Date().toISOString(), base, names, items, missing }
}

/** The history of a file, in one page. */
export function recordedSource({ items, missing }: Recording): HistorySource {
  return {
    page: async () => ({ items, missing, next: '', more: false, total: items.length }),
    changes: async () => ({ reason: '' }),
  }
}

export function isRecording(value: unknown): value is Recording {
  return (
    typeof value === 'object' &&
    value !== null &&
    'format' in value &&
    value.format === format &&
    'items' in value &&
    Array.isArray(value.items)
  )
}
