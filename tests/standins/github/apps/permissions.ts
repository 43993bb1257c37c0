/** The permissions of Apps, and whether the granted ones are enough. */
import type { Permissions } from '../state.ts'

export type Level = 'read' | 'write' | 'admin'

/** The permissions that a call needs, all of them together: `{ contents: 'read', pull_requests: 'write' }`. */
export type Wanted = Readonly<Partial<Record<PermissionName, Level>>>

/** Permissions for repositories, then for organisations and for people, in the order of GitHub's description of `app-permissions`. */
export const permissionNames = [
  'actions',
  'administration',
  'attestations',
  'checks',
  'codespaces',
  'contents',
  'dependabot_secrets',
  'deployments',
  'discussions',
  'environments',
  'issues',
  'merge_queues',
  'metadata',
  'packages',
  'pages',
  'pull_requests',
  'repository_custom_properties',
  'repository_hooks',
  'repository_projects',
  'secret_scanning_alerts',
  'secrets',
  'security_events',
  'single_file',
  'statuses',
  'vulnerability_alerts',
  'workflows',
  'members',
  'organization_administration',
  'organization_hooks',
  'organization_projects',
  'organization_secrets',
  'email_addresses',
  'git_ssh_keys',
] as const
export type PermissionName = (typeof permissionNames)[number]

export const isPermissionName = (name: string): name is PermissionName =>
  permissionNames.some((known) => known === name)

const levels: readonly Level[] = ['read', 'write', 'admin']

/** Whether `granted` has all of `wanted`, or more. `metadata: read` is always granted. */
export function grants(granted: Permissions, wanted: Readonly<Record<string, Level | undefined>>): boolean {
  return Object.entries(wanted).every(([name, level]) => {
    const has = granted[name] ?? (name === 'metadata' ? 'read' : undefined)
    return level === undefined || (has !== undefined && levels.indexOf(has) >= levels.indexOf(level))
  })
}

/** Whether a call that needs `wanted` only reads. */
export const onlyReads = (wanted: Wanted): boolean => Object.values(wanted).every((level) => level === 'read')

/** The form of `X-Accepted-GitHub-Permissions`: a comma means 'and', a semicolon 'or'. */
export const acceptedText = (alternatives: readonly Wanted[]): string =>
  alternatives
    .map((wanted) =>
      Object.entries(wanted)
        .map(([name, level]) => `${name}=${level}`)
        .join(','),
    )
    .join('; ')
