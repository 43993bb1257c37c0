/**
 * Keys and secrets. A scope (`task:<id>`, `project:<id>`, `user:<id>`) has one data key, wrapped by the master key. Destroying that key erases
 * everything that was sealed under it, wherever the ciphertext is stored. Held by `tests/contracts/vault.spec.ts`.
 */
export interface Vault {
  /**
   * Seals with AES-256-GCM under the scope's key, which is created on first use. `context` is authenticated with the ciphertext and must be given
   * again to open it. Throws `KeyDestroyed` once the scope was destroyed.
   */
  seal(scope: string, context: string, plain: Uint8Array): Promise<Uint8Array>
  /**
   * The plaintext; `undefined` once the scope's key was destroyed. Throws `CannotOpen` when the bytes were changed or the context differs, and
   * `KeyMissing` when there is no such key.
   */
  open(scope: string, context: string, sealed: Uint8Array): Promise<Uint8Array | undefined>
  /** Destroys the scope's key and its secrets permanently. */
  destroy(scope: string): Promise<void>
  /** Stores a secret (a token, a project's variable) under a name in a scope, replacing an older one. */
  putSecret(scope: string, name: string, secret: string): Promise<void>
  getSecret(scope: string, name: string): Promise<string | undefined>
  /** Removes a secret. With `last`, only while this is the stored value, so that a value that was stored meanwhile is kept. */
  removeSecret(scope: string, name: string, last?: string): Promise<void>
  /** A 32-byte key for a purpose of the server itself, such as signing tokens or addresses, derived from the master key by HKDF-SHA-256. */
  deriveKey(purpose: string): Uint8Array
  ready(): Promise<void>
  close(): Promise<void>
}
