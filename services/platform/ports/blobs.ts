/**
 * Large things beside the log - images, diffs, session files, bundles - sealed before they come here and named by the
 * SHA-256 of their sealed bytes. Held by `tests/contracts/blobs.spec.ts`.
 */
export interface Blobs {
  /**
   * Stores the bytes under their hash (hex) and returns it; the same bytes twice are stored once, and count as put now. Nothing
   * half-written is ever read.
   */
  put(bytes: Uint8Array): Promise<string>
  /** The bytes, checked against their hash; `undefined` when there are none. Throws `DamagedBlob` when they do not match. */
  get(hash: string): Promise<Uint8Array | undefined>
  /** With `putBefore`, only when it was last put before that moment: one that is put meanwhile stays. */
  remove(hash: string, putBefore?: Date): Promise<void>
  /**
   * The hashes of the blobs that were last put before the moment, each once, in little memory however many there are; one that is put
   * or removed meanwhile may be missing. One whose age cannot be told is among them, and what cannot be looked into is thrown at the
   * end, after all the others.
   */
  list(putBefore: Date): AsyncIterable<string>
  ready(): Promise<void>
  close(): Promise<void>
}
