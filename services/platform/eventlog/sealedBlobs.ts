/** Blobs sealed under the key of what they belong to. */
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import type { Blobs } from '#platform/ports/blobs.ts'
import type { Vault } from '#platform/ports/vault.ts'

export interface SealedBlobs {
  put(scope: string, bytes: Uint8Array): Promise<BlobRef>
  /** `undefined` when the blob or its key is gone. */
  get(scope: string, ref: BlobRef): Promise<Uint8Array | undefined>
  /** For bytes that nothing refers to: an erasure destroys the key. With `putBefore`, only when they were last put before that moment. */
  remove(ref: Pick<BlobRef, 'hash'>, putBefore?: Date): Promise<void>
  /** The hashes of those that were last put before the moment; as `Blobs` has it. */
  list(putBefore: Date): AsyncIterable<string>
}

/** Named by the hash of the sealed bytes: the name reveals nothing of the content, also after an erasure. */
export function sealedBlobs(engines: { blobs: Blobs; vault: Vault }): SealedBlobs {
  return {
    async put(scope, bytes) {
      const sealed = await engines.vault.seal(scope, 'blob', bytes)
      return { hash: await engines.blobs.put(sealed), size: bytes.byteLength }
    },
    async get(scope, ref) {
      const sealed = await engines.blobs.get(ref.hash)
      return sealed && engines.vault.open(scope, 'blob', sealed)
    },
    remove: ({ hash }, putBefore) => engines.blobs.remove(hash, putBefore),
    list: (putBefore) => engines.blobs.list(putBefore),
  }
}
