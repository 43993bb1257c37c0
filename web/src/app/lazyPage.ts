/** Pages are chunks of their own; one that does not come is an error that a person is told of, not an endless wait. */
import { lazy, type ComponentType } from 'react'

/** Milliseconds (section 9). */
const chunkTimeoutMs = 120_000

/** A chunk did not load in time, or not at all. */
export class ChunkLoadError extends Error {
  override readonly name = 'ChunkLoadError'
}

/** A page that is loaded when it is first shown. */
export function lazyPage(load: () => Promise<ComponentType>) {
  return lazy(async () => ({ default: await inTime(load, chunkTimeoutMs) }))
}

/** What `load` brings. @throws ChunkLoadError when it fails or takes longer than `limitMs`. */
export async function inTime<Loaded>(load: () => Promise<Loaded>, limitMs: number): Promise<Loaded> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ChunkLoadError('The page took too long to load.')), limitMs)
  })
  try {
    return await Promise.race([load(), late])
  } catch (cause) {
    throw cause instanceof ChunkLoadError
      ? cause
      : new ChunkLoadError('The page could not be loaded.', { cause })
  } finally {
    clearTimeout(timer)
  }
}

const reloadedAt = 'chunkReloadAt'
/** A second failure within this is not cured by reloading. */
const reloadAgainMs = 60_000

/**
 * After a deployment the old chunks are gone: the first that is missed reloads the page, once. Until it does, or when
 * it did already, the page shows the error.
 */
export function reloadOnMissingChunk(
  page: Pick<Window, 'addEventListener' | 'location' | 'sessionStorage'>,
): void {
  page.addEventListener('vite:preloadError', () => {
    const last = Number(page.sessionStorage.getItem(reloadedAt) ?? 0)
    if (Date.now() - last < reloadAgainMs) return
    page.sessionStorage.setItem(reloadedAt, String(Date.now()))
    page.location.reload()
  })
}
