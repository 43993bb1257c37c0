/** The Apps of the host: looked up by the names in requests, and created from a manifest or from the configuration. */
import { createHash, createPublicKey, generateKeyPair, timingSafeEqual } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Clock } from '#platform/ports/clock.ts'
import { accounts, ada, organizations, sameName } from '../../../../services/codehost/state/accounts.ts'
import type { App, Installation, Permissions, GitHubState } from '../state.ts'
import type { Store } from '../../../../services/codehost/state/store.ts'

/** The App that the configuration names: Flightdeck. */
export interface ConfiguredApp {
  readonly clientId: string
  readonly clientSecret: string
  /** The private key in PEM; with `null` the host creates a key and stores it. */
  readonly privateKey: string | null
  /** Addresses to which a person may be redirected, in addition to those on loopback. */
  readonly callbackUrls: readonly string[]
  readonly hook: { readonly url: string; readonly secret: string | null } | null
  /** Whether each account has installed it. */
  readonly isInstalled: boolean
}

/** What the operator of the App needs to know about it. */
export interface AppCredentials {
  readonly id: number
  readonly slug: string
  readonly clientId: string
  /** The private key in PEM, PKCS#1 as GitHub gives it. */
  readonly privateKey: string
}

/** The App's pages are at `/apps/flightdeck`. */
export const configuredSlug = 'flightdeck'

/** The permissions of the configured App: all that Flightdeck can use, and that for creating repositories. */
export const configuredPermissions: Permissions = {
  metadata: 'read',
  contents: 'write',
  pull_requests: 'write',
  issues: 'write',
  checks: 'write',
  statuses: 'write',
  actions: 'read',
  workflows: 'write',
  members: 'read',
  administration: 'write',
}

export const configuredEvents: readonly string[] = [
  'push',
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
  'pull_request_review_thread',
  'issue_comment',
  'issues',
  'label',
  'check_run',
  'check_suite',
  'status',
  'workflow_run',
  'workflow_job',
  'repository',
]

export const appBySlug = (state: GitHubState, slug: string): App | undefined =>
  state.apps.find((app) => sameName(app.slug, slug))

export const appByClientId = (state: GitHubState, clientId: string): App | undefined =>
  state.apps.find((app) => app.clientId === clientId)

/** Whether this is the App's secret, compared in constant time. */
export function hasSecret(app: App, secret: string): boolean {
  const [a, b] = [Buffer.from(secretHash(secret)), Buffer.from(app.clientSecretHash)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** The form in which a client secret is stored. */
export const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** A new pair of RSA keys: the private key in PKCS#1, the public key in SPKI, both in PEM. */
export async function newKeyPair(): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
  return promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
}

/**
 * Updates the configured App from the configuration; with `null` there is none. The App's key is created on the first start and kept in `dataDir`,
 * because whoever runs the host also runs the App.
 */
export async function openConfiguredApp(
  wanted: ConfiguredApp | null,
  {
    dataDir,
    store,
    clock,
  }: { readonly dataDir: string; readonly store: Store<GitHubState>; readonly clock: Clock },
): Promise<AppCredentials | null> {
  if (wanted === null) {
    await store.update((state) => [withoutConfigured(state), undefined])
    return null
  }
  const privateKey = wanted.privateKey ?? (await keptKey(join(dataDir, 'app.private-key.pem')))
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString()
  const now = clock.now().toISOString()
  const id = await store.update((state) => {
    const known = state.apps.find((app) => app.isConfigured)
    const appId = known?.id ?? state.nextAppId
    const app = appOf(wanted, { id: appId, publicKey, now, createdAt: known?.createdAt ?? now })
    const others = state.apps.filter((one) => one.id !== appId)
    const nextAppId = Math.max(state.nextAppId, appId + 1)
    return [installed({ ...state, nextAppId, apps: [...others, app] }, app, wanted, now), appId]
  })
  return { id, slug: configuredSlug, clientId: wanted.clientId, privateKey }
}

async function keptKey(path: string): Promise<string> {
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new Error(`Cannot read the key of the App in ${path}: ${error.message}`, { cause: error })
  })
  if (kept !== undefined) return kept
  const { privateKey } = await newKeyPair()
  await writeFile(path, privateKey, { mode: 0o600 })
  return privateKey
}

function appOf(
  wanted: ConfiguredApp,
  about: {
    readonly id: number
    readonly publicKey: string
    readonly now: string
    readonly createdAt: string
  },
): App {
  return {
    id: about.id,
    slug: configuredSlug,
    name: 'Flightdeck',
    owner: ada.login,
    description: 'Runs coding agents on your repositories',
    homepage: 'http://localhost:8080',
    clientId: wanted.clientId,
    clientSecretHash: secretHash(wanted.clientSecret),
    publicKey: about.publicKey,
    hook: wanted.hook && { ...wanted.hook, active: true },
    permissions: configuredPermissions,
    events: configuredEvents,
    isPublic: true,
    callbackUrls: wanted.callbackUrls,
    setupUrl: null,
    setupOnUpdate: false,
    requestsOAuthOnInstall: false,
    isConfigured: true,
    createdAt: about.createdAt,
    updatedAt: about.now,
  }
}

/** The state in which everybody has installed the App, if the configuration says so. */
function installed(state: GitHubState, app: App, { isInstalled }: ConfiguredApp, now: string): GitHubState {
  const known = state.installations.filter(({ appId }) => appId === app.id)
  // Only a host without any installation is filled, so that people who removed the App or chose repositories are left alone.
  if (!isInstalled || known.length > 0) return state
  const added = [...accounts, ...organizations].map((owner): Installation => ({
    id: owner.id,
    appId: app.id,
    account: owner.login,
    repositoryIds: null,
    permissions: app.permissions,
    events: app.events,
    createdAt: now,
    updatedAt: now,
    suspended: null,
  }))
  return { ...state, installations: [...state.installations, ...added] }
}

function withoutConfigured(state: GitHubState): GitHubState {
  const gone = state.apps.filter((app) => app.isConfigured).map(({ id }) => id)
  if (gone.length === 0) return state
  return {
    ...state,
    apps: state.apps.filter(({ id }) => !gone.includes(id)),
    installations: state.installations.filter(({ appId }) => !gone.includes(appId)),
    installationRequests: state.installationRequests.filter(({ appId }) => !gone.includes(appId)),
  }
}
