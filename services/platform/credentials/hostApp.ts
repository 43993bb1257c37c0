/**
 * The GitHub App that the product uses: the configured one, else the one that `/setup` stored in the vault. Other processes learn of a new App over
 * the bus, or else within 2 seconds. This file also has the local code host's App and credentials.
 */
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { AppRegistration, type CurrentApp } from '#platform/ports/codeHostApp.ts'
import type { Leases } from '#platform/ports/leases.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { alone } from '../async/alone.ts'
import type { Config } from '#platform/config/config.ts'

export interface HostApp {
  readonly current: CurrentApp
  /** Stores a new App atomically. If there already is an App, keeps that one and returns `false`. */
  keep(app: AppRegistration): Promise<boolean>
  close(): void
}

interface HostAppDeps {
  /** The configured App, which takes precedence; `null` when none is configured. */
  readonly configured: AppRegistration | null
  /** The name of the code host, since an App of one host is unknown at another. */
  readonly codeHostName: string
  readonly vault: Pick<Vault, 'getSecret' | 'putSecret'>
  readonly bus: Pick<Bus, 'subscribe'>
  readonly clock: Clock
  readonly leases: Pick<Leases, 'hold'>
}

const scope = 'code-host-app'
/** How many ms an App, or its absence, is cached. An existing App does not change, but an App may be created at any time. */
const counts = { found: 60_000, missing: 2_000 }

export function hostApp({ configured, codeHostName, vault, bus, clock, leases }: HostAppDeps): HostApp {
  if (configured !== null)
    return {
      current: async () => configured,
      keep: async () => false,
      close() {},
    }
  let known: { readonly app: AppRegistration | undefined; readonly until: number } | undefined
  const unsubscribe = bus.subscribe('appended', ({ type }) => {
    if (type === 'CodeHostAppRegistered') known = undefined
  })
  async function read(): Promise<AppRegistration | undefined> {
    const secret = await vault.getSecret(scope, codeHostName)
    const app = secret === undefined ? undefined : AppRegistration.parse(JSON.parse(secret))
    known = { app, until: clock.now().getTime() + (app ? counts.found : counts.missing) }
    return app
  }
  async function put(app: AppRegistration): Promise<void> {
    await vault.putSecret(scope, codeHostName, JSON.stringify(app))
    known = undefined
  }
  return {
    current: async () => {
      const isFresh = known !== undefined && clock.now().getTime() < known.until
      return isFresh ? known?.app : read()
    },
    keep: (app) =>
      alone(leases, `code host app of ${codeHostName}`, async () => {
        if ((await read()) !== undefined) return false
        await put(app)
        return true
      }),
    close: unsubscribe,
  }
}

/** The secrets with which webhook deliveries are verified now. A configured secret takes precedence over the secret of the created App. */
export function webhookSecrets(
  { current }: Pick<HostApp, 'current'>,
  configured: { readonly webhookSecret: string | null; readonly webhookSecretBefore: string | null },
): () => Promise<readonly string[]> {
  return async () => {
    const { webhookSecret = null } = (await current()) ?? {}
    return [configured.webhookSecret ?? webhookSecret, configured.webhookSecretBefore].filter(
      (secret) => secret !== null,
    )
  }
}

const localClientId = 'flightdeck-local'

/** Credentials at the local code host. All except `clientId` are secret. */
export interface LocalCredentials {
  readonly clientId: string
  readonly clientSecret: string
  readonly webhookSecret: string
}

/** The credentials of the local code host's only app, derived from the master key, except for a configured webhook secret. */
export function localCredentials({ following }: Config, vault: Vault): LocalCredentials {
  const derived = (purpose: string) => Buffer.from(vault.deriveKey(purpose)).toString('base64url')
  return {
    clientId: localClientId,
    clientSecret: derived('local-code-host'),
    webhookSecret: following.webhookSecret ?? derived('local-code-host-webhooks'),
  }
}

/** The local code host's app. It has neither a key nor installations, so everything is done with people's own access. */
export const localApp = (local: LocalCredentials): AppRegistration => ({
  ...local,
  appId: null,
  slug: 'flightdeck',
  name: 'Flightdeck',
  htmlUrl: null,
  privateKey: null,
})
