/**
 * The content of a saved replay: the history of a task, and everything that the history does not include. Changes and images are included up to a
 * limit. The recording contains no token, and no address of an image on the server.
 */
import type { HistoryItem } from '#domain/history/item.ts'
import type { Names } from '#domain/history/eventRows.ts'
import type { HistorySource, Missing } from '../history/readHistory.ts'
import { isRecord } from '../readUncached.ts'
import type { TaskBase } from '../replay/replayState.ts'
import { readSavedChanges, savedChangesAt, type SavedChanges } from './savedChanges.ts'

/** To be increased when the format changes. Older formats need no conversion, since each file contains its own player. */
const format = 2

export interface Recording {
  readonly format: typeof format
  /** The time of saving, in the format of ISO 8601. */
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

/**
 * Reads the whole history again, so that content that was erased since the page opened is left out. Resolves to the reason when the history cannot be
 * read.
 */
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
  // An image's address would give access to the image on the server, so the image's data takes its place.
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

/** The history in the file, as a source with a single page. */
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

interface SavedImages {
  /** The images as `data:` addresses, by image id. */
  readonly data: Readonly<Record<string, string>>
  readonly leftOut: number
}

/** The maximum total size of the images in a recording, in bytes. */
const maxBytes = 12_000_000

/** Reads the images in chat order. Images that cannot be read, have another type or no longer fit are left out. */
export async function readSavedImages(
  source: Pick<HistorySource, 'images' | 'bytes'>,
  signal: AbortSignal,
  limit = maxBytes,
): Promise<SavedImages> {
  const data: Record<string, string> = {}
  let left = limit
  let leftOut = 0
  for (const { id, url, type } of await source.images(signal)) {
    const bytes = signal.aborted ? null : await source.bytes(url, signal)
    // Only types that the server accepts may be written into the address.
    if (bytes === null || !/^image\/(?:jpeg|png|gif|webp)$/.test(type) || bytes.length > left) {
      leftOut += 1
      continue
    }
    left -= bytes.length
    data[id] = `data:${type};base64,${base64Of(bytes)}`
  }
  return { data, leftOut }
}

/** How many bytes are passed to one call of `fromCodePoint`, in which each byte is an argument. */
const atOnce = 0x80_00

function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += atOnce)
    text += String.fromCodePoint(...bytes.subarray(at, at + atOnce))
  return btoa(text)
}
