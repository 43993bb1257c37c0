/** The code that authorizes somebody to set this server up: derived from the master key, so that every process knows it. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Vault } from '#platform/ports/vault.ts'

/**
 * 144 bits, in characters that are valid in addresses. It is always the same and valid while there is no App, so a log of a start must be kept
 * secret.
 */
export const setupCodeOf = ({ deriveKey }: Pick<Vault, 'deriveKey'>): string =>
  Buffer.from(deriveKey('setup-code')).toString('base64url').slice(0, 24)

export function isSetupCode(given: string, vault: Pick<Vault, 'deriveKey'>): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(setupCodeOf(vault)))
}
