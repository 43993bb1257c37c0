/** Which repositories the App reaches, by what is known of the person's installations. */
import type { InstallationOfPerson } from '#domain/api/github.schema.ts'
import type { GitHubAccess } from './gitHubApi.ts'

/** Whether the App reaches a repository; where it does not, why, and the installation that would have it. */
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

/** How many repositories the App reaches for the person; `undefined` where that is not known. */
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

/** Where the App can be installed for another account; `undefined` of a private one that its only account has already, and where there is none. */
export function installUrlOf(
  access: Pick<GitHubAccess, 'app' | 'installations'> | undefined,
): string | undefined {
  const isNowhere = access?.installations?.length === 0
  return access?.app && (access.app.isPublic !== false || isNowhere) ? access.app.installUrl : undefined
}
