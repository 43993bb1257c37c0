/**
 * Large data beside the log, such as images, files, diffs and git bundles. It is encrypted before it is put here, and named by the SHA-256 of the
 * encrypted bytes. Tested by `tests/contracts/blobs.spec.ts`.
 */
export interface Blobs {
  /**
   * Stores the bytes under their hash (hex) and returns it. Equal bytes are stored once; storing them again resets their age. A half-written blob is
   * never read.
   */
  put(bytes: Uint8Array): Promise<string>
  /** Returns the bytes, checked against their hash; `undefined` when the blob does not exist. Throws `DamagedBlob` when they do not match. */
  get(hash: string): Promise<Uint8Array | undefined>
  /** Whether the blob exists and matches its hash. Uses bounded memory. */
  check(hash: string): Promise<'whole' | 'changed' | 'missing'>
  /** Removes the blob. With `putBefore`, only if it was last put before that time, so that a blob that is being put again stays. */
  remove(hash: string, putBefore?: Date): Promise<void>
  /**
   * The hashes of the blobs that were last put before this time, each once. Uses bounded memory. Blobs that are put or removed during the call may be
   * missing or repeated; blobs of unknown age are included. The first fault of an unreadable folder is thrown after all hashes.
   */
  list(putBefore: Date): AsyncIterable<string>
  ready(): Promise<void>
  close(): Promise<void>
}

/** Whether a name can be a blob's. Other names are never looked up or used as a path. */
export function isBlobHash(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name)
}
