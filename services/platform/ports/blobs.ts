/**
 * Large things beside the log - images, diffs, session files, bundles - sealed before they come here and named by the
 * SHA-256 of their sealed bytes. Held by `tests/contracts/blobs.spec.ts`.
 */
export interface Blobs {
  /** Stores the bytes under their hash (hex) and returns it; the same bytes twice are stored once. Nothing half-written is ever read. */
  put(bytes: Uint8Array): Promise<string>
  /** The bytes, checked against their hash; `undefined` when there are none. Throws `DamagedBlob` when they do not match. */
  get(hash: string): Promise<Uint8Array | undefined>
  remove(hash: string): Promise<void>
  ready(): Promise<void>
  close(): Promise<void>
}
