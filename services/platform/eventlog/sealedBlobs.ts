/** Blobs encrypted under the key of the scope that they belong to. */
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import type { BlobState } from '#domain/proof/auditBundle.ts'
import type { Blobs } from '#platform/ports/blobs.ts'
import { CannotOpen, DamagedBlob } from '#platform/ports/faults.ts'
import type { Vault } from '#platform/ports/vault.ts'

export interface SealedBlobs {
  put(scope: string, bytes: Uint8Array): Promise<BlobRef>
  /**
   * Returns the decrypted bytes; `undefined` when the blob does not exist or its key was destroyed. Throws `DamagedBlob` or `CannotOpen` when the
   * blob was changed.
   */
  get(scope: string, ref: BlobRef): Promise<Uint8Array | undefined>
  /** The state of a blob. The stored bytes are hashed but not decrypted. */
  stateOf(scope: string, ref: Pick<BlobRef, 'hash'>): Promise<BlobState>
  /** Whether the encrypted bytes exist and match their hash. Needs no key. */
  check: Blobs['check']
  /** Removes a blob that nothing refers to; to erase a blob, destroy its key. With `putBefore`, only if it was last put before that time. */
  remove(ref: Pick<BlobRef, 'hash'>, putBefore?: Date): Promise<void>
  /** The hashes of the blobs that were last put before `putBefore`, with the guarantees of `Blobs.list`. */
  list(putBefore: Date): AsyncIterable<string>
}

/**
 * Blobs encrypted with the vault's keys. Their names are hashes of the encrypted bytes, so they reveal nothing about the content, even after an
 * erasure.
 */
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
    async stateOf(scope, { hash }) {
      if (await isErased(engines.vault, scope)) return 'erased'
      try {
        return (await engines.blobs.get(hash)) === undefined ? 'missing' : 'kept'
      } catch (fault) {
        if (fault instanceof DamagedBlob) return 'changed'
        throw fault
      }
    },
    check: (hash) => engines.blobs.check(hash),
    remove: ({ hash }, putBefore) => engines.blobs.remove(hash, putBefore),
    list: (putBefore) => engines.blobs.list(putBefore),
  }
}

/** The result of reading a blob; `undefined` when the blob is damaged or its key is missing, for readers that can do without the blob. */
export async function unlessDamaged<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((fault: unknown) => {
    if (fault instanceof DamagedBlob || fault instanceof CannotOpen) return undefined
    throw fault
  })
}

/** Whether the key of the scope was destroyed. */
export async function isErased(vault: Pick<Vault, 'open'>, scope: string): Promise<boolean> {
  try {
    // An empty text is never valid ciphertext, so this succeeds only when the key was destroyed.
    return (await vault.open(scope, 'blob', new Uint8Array(0))) === undefined
  } catch (fault) {
    if (fault instanceof CannotOpen) return false
    throw fault
  }
}
