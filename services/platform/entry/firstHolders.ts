/**
 * Which account at the code host has a name that the list of who may come in holds: the first that came in by it. Logins and the names of
 * organisations change hands there; who takes one over must not come in by it.
 */
import { createHmac } from 'node:crypto'
import type { Vault } from '#platform/ports/vault.ts'

export interface FirstHolders {
  /** Whether the name is this account's, or nobody's so far. */
  mayBe(kind: NameKind, name: string, id: string): Promise<boolean>
  /** The same, and from here on it is nobody else's. */
  claim(kind: NameKind, name: string, id: string): Promise<boolean>
}

export type NameKind = 'user' | 'organization'

const scope = 'code-host-names'

/** `codeHostName` tells the names of one code host from those of another. */
export function firstHolders(
  vault: Pick<Vault, 'getSecret' | 'putSecret' | 'deriveKey'>,
  codeHostName: string,
): FirstHolders {
  const key = vault.deriveKey('code-host-names')
  // Names of secrets lie in clear: nobody can tell a login from this one.
  const secretOf = (kind: NameKind, name: string): string =>
    createHmac('sha256', key).update(`${codeHostName}\n${kind}\n${name}`).digest('hex')
  const holderOf = (kind: NameKind, name: string) => vault.getSecret(scope, secretOf(kind, name))
  return {
    async mayBe(kind, name, id) {
      const holder = await holderOf(kind, name)
      return holder === undefined || holder === id
    },
    async claim(kind, name, id) {
      const holder = await holderOf(kind, name)
      if (holder === undefined) await vault.putSecret(scope, secretOf(kind, name), id)
      return holder === undefined || holder === id
    },
  }
}
