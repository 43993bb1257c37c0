/**
 * What a saved replay holds of a task: its history, and what the history does not say. Changes and images are in it up to a bound. It holds no
 * token and no address of an image.
 */
import type { HistoryItem } from '#domain/history/item.ts'
import type { Names } from '#domain/history/rows.ts'
import type { HistorySource, Missing } from '../history/readHistory.ts'
import type { TaskBase } from '../replay/replayState.ts'
import { readSavedChanges, savedChangesAt, type SavedChanges } from './savedChanges.ts'
import { readSavedImages, type SavedImages } from './savedImages.ts'

/** Changes with the shape; the player comes in the same file, so that there is nothing to convert. */
const format = 2

export interface Recording {
  readonly format: typeof format
  /** ISO 8601. */
  readonly savedAt: string
  readonly base: TaskBase
  readonly names: Names
  readonly items: readonly HistoryItem[]
  readonly missing: readonly Missing[]
  readonly changes: SavedChanges
  readonly images: SavedImages
}

interface Recorded {
  readonly source: HistorySource
  readonly base: TaskBase
  readonly names: Names
}

/** Reads the whole history again: what was erased since the page opened is not in it. Resolves with why it cannot be read. */
export async function readRecording(
  { source, base, names }: Recorded,
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
  const changes = await readSavedChanges(source, items, signal)
  const images = await readSavedImages(source, signal)
  // The address of an image lets whoever has it read the image.
  const ofTask = base.images.map((image) => ({ ...image, url: images.data[image.id] ?? '' }))
  return {
    format,
    savedAt: new Date().toISOString(),
    base: { id: base.id, project: base.project, images: ofTask },
    names,
    items,
    missing,
    changes,
    images,
  }
}

/** The history of a file, in one page. */
export function recordedSource({ items, missing, changes }: Recording): HistorySource {
  return {
    page: async () => ({ items, missing, next: '', more: false, total: items.length }),
    changes: async (revision) => savedChangesAt(changes, revision),
    images: async () => [],
    bytes: async () => null,
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
