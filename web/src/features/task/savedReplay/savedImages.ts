/** The images of a task as a saved replay holds them: as data, up to a bound. */
import type { HistorySource } from '../history/readHistory.ts'

export interface SavedImages {
  /** `data:` addresses by the ids of the images. */
  readonly data: Readonly<Record<string, string>>
  readonly leftOut: number
}

/** Bytes of all images. */
const mostBytes = 12_000_000

/** Reads the images in the order of the chat. One that cannot be read, or no longer fits, is left out. */
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
    // What is written into the address is a type that the server takes, and nothing else.
    if (bytes === null || !/^image\/(?:jpeg|png|gif|webp)$/.test(type) || bytes.length > left) {
      leftOut += 1
      continue
    }
    left -= bytes.length
    data[id] = `data:${type};base64,${base64Of(bytes)}`
  }
  return { data, leftOut }
}

/** Bytes that are spread over arguments at once. */
const atOnce = 0x80_00

function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += atOnce)
    text += String.fromCodePoint(...bytes.subarray(at, at + atOnce))
  return btoa(text)
}
