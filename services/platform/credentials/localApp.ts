/** Our OAuth app at the local code host. */
import type { Config } from '#platform/config/config.ts'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import type { Vault } from '#platform/ports/vault.ts'

const localClientId = 'flightdeck-local'

/** Secret, except for `clientId`. */
export interface LocalCredentials {
  readonly clientId: string
  readonly clientSecret: string
  readonly webhookSecret: string
}

/** The local code host has one app, with credentials derived from the master key. */
export function localCredentials({ following }: Config, vault: Vault): LocalCredentials {
  const derived = (purpose: string) => Buffer.from(vault.deriveKey(purpose)).toString('base64url')
  return {
    clientId: localClientId,
    clientSecret: derived('local-code-host'),
    webhookSecret: following.webhookSecret ?? derived('local-code-host-webhooks'),
  }
}

/** It has neither a key nor installations: people's own access is all there is. */
export const localApp = (local: LocalCredentials): AppRegistration => ({
  ...local,
  appId: null,
  slug: 'flightdeck',
  name: 'Flightdeck',
  htmlUrl: null,
  privateKey: null,
})
