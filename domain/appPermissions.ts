/** The permissions of a GitHub App: what we ask for and why, and what the host says is missing. */

export type PermissionLevel = 'read' | 'write' | 'admin'
/** By name, as `contents`. */
export type AppPermissions = Readonly<Record<string, PermissionLevel>>

/** What every App of ours asks for: the least that does the job. */
export const neededPermissions = {
  metadata: 'read',
  contents: 'write',
  pull_requests: 'write',
  issues: 'write',
  checks: 'read',
  statuses: 'read',
  actions: 'read',
} as const satisfies AppPermissions

/** What an administrator may add, each for one thing. */
export const optionalPermissions = {
  workflows: 'write',
  members: 'read',
} as const satisfies AppPermissions

/** The events that we ask for, each with a permission of which one must be granted. GitHub refuses a manifest where none is. */
export const wantedEvents = {
  push: ['contents'],
  pull_request: ['pull_requests'],
  pull_request_review: ['pull_requests'],
  pull_request_review_comment: ['pull_requests'],
  pull_request_review_thread: ['pull_requests'],
  issue_comment: ['issues'],
  issues: ['issues'],
  check_run: ['checks'],
  check_suite: ['checks'],
  status: ['statuses'],
  repository: ['metadata'],
} as const

/** Events that GitHub sends to every App, and whose names in a manifest it refuses. */
export const alwaysSent = [
  'installation',
  'installation_repositories',
  'installation_target',
  'github_app_authorization',
] as const

const levels: readonly PermissionLevel[] = ['read', 'write', 'admin']

/** Those of `wanted` that `granted` has not, or not as far. */
export function missingPermissions(
  wanted: AppPermissions,
  granted: AppPermissions,
): readonly (readonly [name: string, level: PermissionLevel])[] {
  return Object.entries(wanted).filter(([name, level]) => {
    const has = granted[name] ?? (name === 'metadata' ? 'read' : undefined)
    return has === undefined || levels.indexOf(has) < levels.indexOf(level)
  })
}

/** What `X-Accepted-GitHub-Permissions` names, the first way of several: a comma is 'and', a semicolon 'or'. */
export function acceptedPermissions(
  header: string | null,
): readonly (readonly [name: string, level: PermissionLevel])[] {
  const [first = ''] = (header ?? '').split(';')
  return first.split(',').flatMap((part) => {
    const [name = '', level = ''] = part.trim().split('=')
    const known = levels.find((one) => one === level)
    return /^[a-z_]{1,64}$/.test(name) && known ? [[name, known] as const] : []
  })
}

/** What a request to the code host is made with. `own_token` is `GITHUB_TOKEN`; a `person`'s token is one of the App, bound by its rights. */
export const credentials = ['person', 'own_token', 'installation', 'app_key'] as const
export type Credential = (typeof credentials)[number]

/** What reaches repositories, as sentences name it. */
export const credentialNames = {
  person: 'your access',
  own_token: 'the token in GITHUB_TOKEN',
  installation: "the access of Flightdeck's App",
} as const
export type NamedCredential = keyof typeof credentialNames

/** To whom the code host shows what a person asks for, as sentences name it. */
export const viewerOf = ({ ownToken }: { readonly ownToken?: string }): string =>
  ownToken === undefined ? 'your account' : credentialNames.own_token

/** Where the owner of `GITHUB_TOKEN` changes what it may. */
export const tokenPage = 'on GitHub: Settings, Developer settings, Personal access tokens'

/** A sentence for people, which names what lacks the permissions and where it gets them. */
export function missingSentence(
  missing: readonly (readonly [string, PermissionLevel])[],
  credential: Credential = 'person',
): string {
  const named = missing.map(([name, level]) => `${name}: ${level}`).join(', ')
  return credential === 'own_token'
    ? `The token in GITHUB_TOKEN has no permission for this (${named}). Its owner can add it ${tokenPage}.`
    : `Flightdeck's App on GitHub has no permission for this (${named}). Settings, GitHub shows who can grant it and where.`
}
