/** Blobs sealed under the key of what they belong to. */
import type { BlobRef } from '#domain/kernel/ids.schema.ts'
import type { BlobState } from '#domain/proof/auditBundle.ts'
import type { Blobs } from '#platform/ports/blobs.ts'
import { CannotOpen, DamagedBlob } from '#platform/ports/faults.ts'
import type { Vault } from '#platform/ports/vault.ts'

export interface SealedBlobs {
  put(scope: string, bytes: Uint8Array): Promise<BlobRef>
  /** `undefined` when the blob or its key is gone. Throws `DamagedBlob` or `CannotOpen` when it is not what was put. */
  get(scope: string, ref: BlobRef): Promise<Uint8Array | undefined>
  /** What is found in its place. The bytes are read and hashed, and not opened. */
  stateOf(scope: string, ref: Pick<BlobRef, 'hash'>): Promise<BlobState>
  /** Whether the sealed bytes are there and have their hash; needs no key. */
  check: Blobs['check']
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

/** What was read; `undefined` where it is damaged or its key is missing, for readers who can do without. */
export async function unlessDamaged<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((fault: unknown) => {
    if (fault instanceof DamagedBlob || fault instanceof CannotOpen) return undefined
    throw fault
  })
}

/** Whether the key of the scope was destroyed. */
export async function isErased(vault: Pick<Vault, 'open'>, scope: string): Promise<boolean> {
  try {
    // Nothing was ever sealed to no bytes: only a destroyed key makes this be no fault.
    return (await vault.open(scope, 'blob', new Uint8Array(0))) === undefined
  } catch (fault) {
    if (fault instanceof CannotOpen) return false
    throw fault
  }
}
