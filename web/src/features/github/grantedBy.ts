/** Which installations have granted a permission at the level that is needed. */
import type { InstallationOfApp, PermissionRow } from '#domain/api/github.schema.ts'

export type Granted =
  | { readonly kind: 'nothing_to_grant' | 'unknown' | 'no_installation' | 'all' }
  | { readonly kind: 'not_in'; readonly accounts: readonly string[]; readonly isNowhere: boolean }

const levels = ['read', 'write', 'admin']

/** Whether all installations have granted the permission and, if not, which accounts have not. `installations` is `null` when they are not known. */
export function grantedBy(
  { name, wanted, app }: PermissionRow,
  installations: readonly InstallationOfApp[] | null,
): Granted {
  const level = wanted ?? app
  // A permission that the App does not request cannot be granted.
  if (level === null || app === null) return { kind: 'nothing_to_grant' }
  if (installations === null) return { kind: 'unknown' }
  if (installations.length === 0) return { kind: 'no_installation' }
  const lacking = installations.filter(({ granted }) => {
    // Every App may read metadata.
    const has = granted.find((one) => one.name === name)?.level ?? (name === 'metadata' ? 'read' : undefined)
    return has === undefined || levels.indexOf(has) < levels.indexOf(level)
  })
  if (lacking.length === 0) return { kind: 'all' }
  const accounts = lacking.map(({ account }) => account)
  return {
    kind: 'not_in',
    accounts,
    isNowhere: lacking.length === installations.length && lacking.length > 1,
  }
}
