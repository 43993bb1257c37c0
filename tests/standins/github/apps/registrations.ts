/** Apps that people create from a manifest: the App exists at once, and its secrets are given once, for a code, within an hour. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '#platform/ports/clock.ts'
import { ownerOf, sameName } from '../../../../services/codehost/state/accounts.ts'
import { Refusal } from '../../../../services/codehost/httpError.ts'
import type { App, GitHubState } from '../state.ts'
import type { Store } from '../../../../services/codehost/state/store.ts'
import { newKeyPair, secretHash } from './apps.ts'
import type { Manifest } from './manifest.ts'

/** An App with its secrets, which are shown only this once. */
export interface Conversion {
  readonly app: App
  readonly clientSecret: string
  /** `null` when the App has no hook. */
  readonly webhookSecret: string | null
  /** The private key in PEM, PKCS#1. */
  readonly pem: string
}

export interface Registrations {
  /** Creates the App under `owner`, and a code for its secrets. Throws Refusal 422 with a sentence. */
  register(
    manifest: Manifest,
    about: { readonly name: string; readonly owner: string },
  ): Promise<{ readonly app: App; readonly code: string }>
  /** Gives the secrets, once; `undefined` for a code that is unknown, used or older than an hour. */
  convert(code: string): Promise<Conversion | undefined>
}

const codeLifeMs = 3_600_000
const mostCodes = 100
const mostApps = 100

export function createRegistrations(parts: {
  readonly store: Store<GitHubState>
  readonly clock: Clock
}): Registrations {
  const codes = new Map<string, { readonly appId: number; readonly until: number }>()
  return {
    register: async (manifest, about) => {
      const app = await register(parts, manifest, about)
      const [oldest] = codes.keys()
      if (codes.size >= mostCodes && oldest !== undefined) codes.delete(oldest)
      const code = randomBytes(20).toString('hex')
      codes.set(code, { appId: app.id, until: parts.clock.now().getTime() + codeLifeMs })
      return { app, code }
    },
    convert: async (code) => {
      const found = codes.get(code)
      codes.delete(code)
      if (!found || found.until <= parts.clock.now().getTime()) return undefined
      return convert(parts, found.appId)
    },
  }
}

/** The name of an App in addresses: `Flightdeck (Ada)` becomes `flightdeck-ada`. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')

function register(
  { store, clock }: { readonly store: Store<GitHubState>; readonly clock: Clock },
  manifest: Manifest,
  { name, owner }: { readonly name: string; readonly owner: string },
): Promise<App> {
  const now = clock.now().toISOString()
  return store.update((state) => {
    const slug = usableSlug(state, name)
    if (state.apps.length >= mostApps) throw new Refusal(422, `There are ${mostApps} Apps on this host.`)
    const hook = manifest.hook_attributes
    const app: App = {
      id: state.nextAppId,
      slug,
      name,
      owner,
      description: manifest.description ?? null,
      homepage: manifest.url,
      clientId: `Iv23li${randomBytes(7).toString('hex')}`,
      clientSecretHash: secretHash(randomBytes(20).toString('hex')),
      publicKey: null,
      hook: hook ? { url: hook.url, active: hook.active, secret: null } : null,
      permissions: { ...manifest.default_permissions, metadata: 'read' },
      events: manifest.default_events,
      isPublic: manifest.public,
      callbackUrls: manifest.callback_urls,
      // A person who is asked for authorization returns to the callback, never to the setup address.
      setupUrl: manifest.request_oauth_on_install ? null : (manifest.setup_url ?? null),
      setupOnUpdate: manifest.setup_on_update,
      requestsOAuthOnInstall: manifest.request_oauth_on_install,
      isConfigured: false,
      createdAt: now,
      updatedAt: now,
    }
    return [{ ...state, nextAppId: state.nextAppId + 1, apps: [...state.apps, app] }, app]
  })
}

function usableSlug(state: GitHubState, name: string): string {
  const slug = slugOf(name)
  if (slug === '') throw new Refusal(422, 'Error "name" can\'t be blank.')
  if (name.length > 34) throw new Refusal(422, 'Error "name" is too long (maximum is 34 characters).')
  const isTaken = state.apps.some((app) => sameName(app.slug, slug)) || ownerOf(slug) !== undefined
  if (isTaken) throw new Refusal(422, 'Error "name" is already taken: choose another.')
  return slug
}

async function convert(
  { store, clock }: { readonly store: Store<GitHubState>; readonly clock: Clock },
  appId: number,
): Promise<Conversion | undefined> {
  const { privateKey, publicKey } = await newKeyPair()
  const clientSecret = randomBytes(20).toString('hex')
  const webhookSecret = randomBytes(20).toString('hex')
  const updatedAt = clock.now().toISOString()
  return store.update((state) => {
    const known = state.apps.find(({ id }) => id === appId)
    if (!known) return [state, undefined]
    const hook = known.hook && { ...known.hook, secret: webhookSecret }
    const app = { ...known, publicKey, clientSecretHash: secretHash(clientSecret), hook, updatedAt }
    const apps = state.apps.map((one) => (one.id === appId ? app : one))
    const conversion = { app, clientSecret, webhookSecret: hook ? webhookSecret : null, pem: privateKey }
    return [{ ...state, apps }, conversion]
  })
}
