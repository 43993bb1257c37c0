/**
 * Ties each name on the access list to the first account that signed in under it. Logins and organization names change hands at the code
 * host: whoever takes over a listed name must not gain access by it.
 */
import { createHmac } from 'node:crypto'
import type { Vault } from '#platform/ports/vault.ts'

export interface NameClaims {
  /** Whether the name belongs to this account, or to nobody so far. */
  isFree(kind: NameKind, name: string, id: string): Promise<boolean>
  /** The same, and if so the name belongs to this account from now on. */
  claim(kind: NameKind, name: string, id: string): Promise<boolean>
}

export type NameKind = 'user' | 'organization'

const scope = 'code-host-names'

/** `codeHostName` keeps the names of one code host apart from those of another. */
export function openNameClaims(
  vault: Pick<Vault, 'getSecret' | 'putSecret' | 'deriveKey'>,
  codeHostName: string,
): NameClaims {
  const key = vault.deriveKey('code-host-names')
  // Names of secrets are stored in clear; a keyed hash does not reveal the login.
  const secretOf = (kind: NameKind, name: string): string =>
    createHmac('sha256', key).update(`${codeHostName}\n${kind}\n${name}`).digest('hex')
  const ownerOf = (kind: NameKind, name: string) => vault.getSecret(scope, secretOf(kind, name))
  return {
    async isFree(kind, name, id) {
      const owner = await ownerOf(kind, name)
      return owner === undefined || owner === id
    },
    async claim(kind, name, id) {
      const owner = await ownerOf(kind, name)
      if (owner === undefined) await vault.putSecret(scope, secretOf(kind, name), id)
      return owner === undefined || owner === id
    },
  }
}
