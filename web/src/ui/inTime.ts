/** Loads a chunk, but not for longer than the time limit. */

/** The time limit for loading a chunk, in milliseconds (contract, section 9). */
const chunkTimeoutMs = 120_000

/** A chunk failed to load, or took too long: `cause` says which. */
export class ChunkLoadError extends Error {
  override readonly name = 'ChunkLoadError'
}

/** The result of `load`. @throws ChunkLoadError when it fails or takes longer than `limitMs`. */
export async function inTime<Loaded>(
  load: () => Promise<Loaded>,
  limitMs: number = chunkTimeoutMs,
): Promise<Loaded> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('It took too long.')), limitMs)
  })
  try {
    return await Promise.race([load(), timeout])
  } catch (cause) {
    throw new ChunkLoadError('The page could not be loaded.', { cause })
  } finally {
    clearTimeout(timer)
  }
}
