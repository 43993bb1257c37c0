/** The code that shows that somebody may set this server up: it follows from the master key, so that every process knows it. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Vault } from '#platform/ports/vault.ts'

/** 144 bits, in letters that an address may hold. It counts while there is no App, and is always the same: whoever keeps the log of a start keeps it too. */
export const setupCodeOf = ({ deriveKey }: Pick<Vault, 'deriveKey'>): string =>
  Buffer.from(deriveKey('setup-code')).toString('base64url').slice(0, 24)

/** Compared in the same time, however much of it is right. */
export function isSetupCode(given: string, vault: Pick<Vault, 'deriveKey'>): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(setupCodeOf(vault)))
}
