/** The permissions and events of our GitHub App, and the sentences about missing permissions. */

export type PermissionLevel = 'read' | 'write' | 'admin'
/** Levels by the permission's name, such as `contents`. */
export type AppPermissions = Readonly<Record<string, PermissionLevel>>

/** The permissions that our App always requests: the smallest set that suffices. */
export const neededPermissions = {
  metadata: 'read',
  contents: 'write',
  pull_requests: 'write',
  issues: 'write',
  checks: 'read',
  statuses: 'read',
  actions: 'read',
} as const satisfies AppPermissions

/** Permissions that an administrator may grant in addition. */
export const optionalPermissions = {
  workflows: 'write',
  members: 'read',
} as const satisfies AppPermissions

/**
 * The events that we subscribe to. For each event, the App needs at least one of the listed permissions: otherwise GitHub refuses the App's manifest.
 */
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

/** Events that GitHub sends to every App. GitHub refuses a manifest that lists any of these events. */
export const alwaysSent = [
  'installation',
  'installation_repositories',
  'installation_target',
  'github_app_authorization',
] as const

const levels: readonly PermissionLevel[] = ['read', 'write', 'admin']

/** The permissions in `wanted` that `granted` lacks or has only at a lower level. */
export function missingPermissions(
  wanted: AppPermissions,
  granted: AppPermissions,
): readonly (readonly [name: string, level: PermissionLevel])[] {
  return Object.entries(wanted).filter(([name, level]) => {
    const has = granted[name] ?? (name === 'metadata' ? 'read' : undefined)
    return has === undefined || levels.indexOf(has) < levels.indexOf(level)
  })
}

/** Parses the header `X-Accepted-GitHub-Permissions`, in which ',' means 'and' and ';' means 'or'. Returns only the first alternative. */
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

/**
 * The kinds of credentials for requests to the code host. `own_token` is `GITHUB_TOKEN`. A `person`'s token is issued through the App, so the App's
 * permissions limit it. `installation` and `app_key` are credentials of the App itself.
 */
export const credentials = ['person', 'own_token', 'installation', 'app_key'] as const
export type Credential = (typeof credentials)[number]

/** The names of credentials, except `app_key`, in sentences about access to repositories. */
export const credentialNames = {
  person: 'your access',
  own_token: 'the token in GITHUB_TOKEN',
  installation: "the access of Flightdeck's App",
} as const
export type NamedCredential = keyof typeof credentialNames

/** Words for the account or token with which we read from the code host for a person. */
export const viewerOf = ({ ownToken }: { readonly ownToken?: string }): string =>
  ownToken === undefined ? 'your account' : credentialNames.own_token

/** Words that say where the owner of `GITHUB_TOKEN` can change its permissions. */
export const tokenPage = 'on GitHub: Settings, Developer settings, Personal access tokens'

/** A sentence that says which permissions are missing, and where people can grant them. */
export function missingSentence(
  missing: readonly (readonly [string, PermissionLevel])[],
  credential: Credential = 'person',
): string {
  const named = missing.map(([name, level]) => `${name}: ${level}`).join(', ')
  return credential === 'own_token'
    ? `The token in GITHUB_TOKEN has no permission for this (${named}). Its owner can add it ${tokenPage}.`
    : `Flightdeck's App on GitHub has no permission for this (${named}). Settings, GitHub shows who can grant it and where.`
}
