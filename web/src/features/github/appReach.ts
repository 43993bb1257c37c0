/** Which repositories the App reaches, derived from the person's installations. */
import type { InstallationOfPerson } from '#domain/api/github.schema.ts'
import type { GitHubAccess } from './gitHubApi.ts'

/** Whether the App reaches a repository; if not, the reason, and the installation to change. */
export type Reach =
  | { readonly kind: 'reached' | 'unknown' | 'not_installed' }
  | { readonly kind: 'not_selected' | 'suspended'; readonly installation: InstallationOfPerson }

export function reachOf(
  { id, full_name: fullName }: { readonly id: string; readonly full_name: string },
  access: GitHubAccess | undefined,
): Reach {
  const installations = access?.installations ?? null
  if (installations === null) return { kind: 'unknown' }
  const [owner = ''] = fullName.toLowerCase().split('/')
  const installation = installations.find(({ account }) => account.toLowerCase() === owner)
  if (!installation) return { kind: (access?.more ?? 0) > 0 ? 'unknown' : 'not_installed' }
  if (installation.isSuspended) return { kind: 'suspended', installation }
  const { repositories, selected, isCut } = installation
  if (repositories === 'all' || selected?.includes(id)) return { kind: 'reached' }
  return selected !== null && !isCut ? { kind: 'not_selected', installation } : { kind: 'unknown' }
}

/** How many repositories the App reaches for the person; `undefined` when that is not known. */
export function reachedCount(access: GitHubAccess | undefined): number | undefined {
  const installations = access?.installations ?? null
  if (installations === null || (access?.more ?? 0) > 0) return undefined
  let sum = 0
  for (const { count, isSuspended } of installations) {
    if (count === null && !isSuspended) return undefined
    sum += count ?? 0
  }
  return sum
}

/**
 * The address to install the App for another account. `undefined` without an App, and for a private App unless it is known to be installed nowhere.
 */
export function installUrlOf(
  access: Pick<GitHubAccess, 'app' | 'installations'> | undefined,
): string | undefined {
  const isNowhere = access?.installations?.length === 0
  return access?.app && (access.app.isPublic !== false || isNowhere) ? access.app.installUrl : undefined
}
