/** Our App at the local code host. */
import type { Config } from '#platform/config/config.ts'
import type { CodeHostConfig } from '#platform/config/codeHost.ts'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import type { Vault } from '#platform/ports/vault.ts'

const localClientId = 'flightdeck-local'

/** Secret, except for `clientId`. */
export interface LocalCredentials {
  readonly clientId: string
  readonly clientSecret: string
  readonly webhookSecret: string
}

/** The product is the local code host's own App, with credentials derived from the master key. */
export function localCredentials({ following }: Config, vault: Vault): LocalCredentials {
  const derived = (purpose: string) => Buffer.from(vault.deriveKey(purpose)).toString('base64url')
  return {
    clientId: localClientId,
    clientSecret: derived('local-code-host'),
    webhookSecret: following.webhookSecret ?? derived('local-code-host-webhooks'),
  }
}

/** That App, until the local code host, which creates its key, announces the full registration. */
export function localApp(local: LocalCredentials, codeHost: CodeHostConfig): AppRegistration | null {
  if (codeHost.kind === 'local' && codeHost.app === 'none') return null
  return { ...local, appId: null, slug: 'flightdeck', name: 'Flightdeck', htmlUrl: null, privateKey: null }
}
