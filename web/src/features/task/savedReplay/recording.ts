/**
 * The content of a saved replay: a task's history, and what the history does not include. Changes and images are included up to a limit. It contains
 * no token and no address of an image.
 */
import type { HistoryItem } from '#domain/history/item.ts'
import type { Names } from '#domain/history/rows.ts'
import type { HistorySource, Missing } from '../history/readHistory.ts'
import { isRecord } from '../readUncached.ts'
import type { TaskBase } from '../replay/replayState.ts'
import { readSavedChanges, savedChangesAt, type SavedChanges } from './savedChanges.ts'
import { readSavedImages, type SavedImages } from './savedImages.ts'

/** Increased when the format changes. Older formats need no conversion, since each file contains its own player. */
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

/** Reads the whole history again, so that content erased since the page opened is not included. Resolves to the reason when it cannot be read. */
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
  // An image's address would give access to the image, so it is replaced.
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

/** The history in a file, as one page. */
export function recordedSource({ items, missing, changes }: Recording): HistorySource {
  return {
    page: async () => ({ items, missing, next: '', more: false, total: items.length }),
    changes: async (revision) => savedChangesAt(changes, revision),
    images: async () => [],
    bytes: async () => null,
  }
}

export function isRecording(value: unknown): value is Recording {
  return isRecord(value) && value['format'] === format && Array.isArray(value['items'])
}
