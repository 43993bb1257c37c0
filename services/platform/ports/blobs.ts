/**
 * Large things beside the log - images, diffs, session files, bundles - sealed before they come here and named by the
 * SHA-256 of their sealed bytes. Held by `tests/contracts/blobs.spec.ts`.
 */
export interface Blobs {
  /**
   * Stores the bytes under their hash (hex) and returns it. The same bytes are stored once; putting them again renews their age. A
   * half-written blob is never read.
   */
  put(bytes: Uint8Array): Promise<string>
  /** The bytes, checked against their hash; `undefined` when there are none. Throws `DamagedBlob` when they do not match. */
  get(hash: string): Promise<Uint8Array | undefined>
  /** Whether the bytes are there and have their hash, in bounded memory. */
  check(hash: string): Promise<'whole' | 'changed' | 'missing'>
  /** Removes the blob; with `putBefore`, only if it was last put before that moment, so that a blob that is put meanwhile stays. */
  remove(hash: string, putBefore?: Date): Promise<void>
  /**
   * The hashes of the blobs that were last put before the moment, each once, in bounded memory. A blob that is put or removed meanwhile
   * may be missing. A blob of unknown age is included. Faults of folders that cannot be read are thrown at the end, after all hashes.
   */
  list(putBefore: Date): AsyncIterable<string>
  ready(): Promise<void>
  close(): Promise<void>
}
