/** The images in a saved replay: embedded as data, up to a limit. */
import type { HistorySource } from '../history/readHistory.ts'

export interface SavedImages {
  /** `data:` addresses, by image id. */
  readonly data: Readonly<Record<string, string>>
  readonly leftOut: number
}

/** The maximum size of all images, in bytes. */
const mostBytes = 12_000_000

/** Reads the images in chat order. Images that cannot be read or no longer fit are left out. */
export async function readSavedImages(
  source: Pick<HistorySource, 'images' | 'bytes'>,
  signal: AbortSignal,
  limit = mostBytes,
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

/** How many bytes are passed as arguments at once. */
const atOnce = 0x80_00

function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += atOnce)
    text += String.fromCodePoint(...bytes.subarray(at, at + atOnce))
  return btoa(text)
}
