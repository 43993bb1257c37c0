/**
 * Keys and secrets. A scope, such as `task:<id>`, has one data key, wrapped by the master key. Destroying the data key erases everything that is
 * encrypted under it, wherever the ciphertext is stored. Tested by `tests/contracts/vault.spec.ts`.
 */
import type { CannotOpen } from './faults.ts'

export interface Vault {
  /**
   * Encrypts with AES-256-GCM under the scope's key, which is created on first use. `context` is authenticated with the ciphertext and must be given
   * again to open it. Throws `KeyDestroyed` when the scope was destroyed.
   */
  seal(scope: string, context: string, plain: Uint8Array): Promise<Uint8Array>
  /**
   * Returns the plaintext; `undefined` when the scope's key was destroyed. Throws `CannotOpen` when the bytes were changed or the context differs,
   * and `KeyMissing` when the scope has no key.
   */
  open(scope: string, context: string, sealed: Uint8Array): Promise<Uint8Array | undefined>
  /** Opens pieces of one scope, in their order. Returns the `CannotOpen` of a changed piece in its place. Throws `KeyMissing`, as `open` does. */
  openAll(scope: string, pieces: readonly SealedPiece[]): Promise<readonly Opened[]>
  /** Destroys the scope's key and its secrets permanently. */
  destroy(scope: string): Promise<void>
  /** Stores a secret (a token, a project's variable) under a name in a scope, replacing an older one. Throws `KeyDestroyed`, as `seal` does. */
  putSecret(scope: string, name: string, secret: string): Promise<void>
  getSecret(scope: string, name: string): Promise<string | undefined>
  /** Removes a secret. With `last`, removes it only if the stored secret equals `last`, so that a secret that was stored in the meantime is kept. */
  removeSecret(scope: string, name: string, last?: string): Promise<void>
  /** Returns a 32-byte key for one of the server's own purposes (signing tokens, addresses), derived from the master key by HKDF-SHA-256. */
  deriveKey(purpose: string): Uint8Array
  /** All keys and secrets as they are stored, in pages; each entry once, if nothing is changed in the meantime. */
  entries(): AsyncIterable<readonly VaultEntry[]>
  /** Stores entries of another vault with the same master key, in place of those with the same scope and name. */
  importEntries(entries: readonly VaultEntry[]): Promise<void>
  ready(): Promise<void>
  close(): Promise<void>
}

export interface SealedPiece {
  readonly context: string
  readonly sealed: Uint8Array
}

/** The plaintext of a piece; `undefined` when its key was destroyed; the fault when the piece was changed. */
export type Opened = Uint8Array | undefined | CannotOpen

/** A data key, wrapped by the master key (`name` is `null`), or a secret, sealed under its scope's data key. A destroyed key is `null`. */
export type VaultEntry =
  | { readonly scope: string; readonly name: null; readonly sealed: Uint8Array | null }
  | { readonly scope: string; readonly name: string; readonly sealed: Uint8Array }
