/** The permissions of accounts at the local code host, by ownership, by role in a repository, and by the limits of their token. */
import { organizationOf, sameName, type Account } from './accounts.ts'

/** Whether the account may create repositories under `ownerLogin`, and push to all of them and merge in them. */
export function mayWrite(account: Account | undefined, ownerLogin: string): boolean {
  if (!account) return false
  if (account.reach && !account.reach.writesUnder(ownerLogin)) return false
  if (account.type === 'Bot') return account.reach !== undefined
  return owns(account, ownerLogin)
}

const owns = ({ login }: Account, ownerLogin: string): boolean =>
  sameName(login, ownerLogin) || (organizationOf(ownerLogin)?.owners.includes(login) ?? false)

/** The fields of a repository on which permissions depend. */
interface Guarded {
  readonly id: number
  readonly owner: string
  readonly isPrivate: boolean
  readonly collaborators: readonly { readonly login: string; readonly role: Role }[]
}

/** GitHub's roles, from the role with the fewest permissions to the role with the most. */
export const roleNames = ['read', 'triage', 'write', 'maintain', 'admin'] as const
export type Role = (typeof roleNames)[number]

/** The role of an account in a repository. For people, the limits of the token are not considered. */
export function roleOf(account: Account, repository: Guarded): Role | 'none' {
  if (account.type === 'Bot') {
    if (mayWrite(account, repository.owner)) return 'write'
  } else if (owns(account, repository.owner)) return 'admin'
  const given = repository.collaborators.find(({ login }) => sameName(login, account.login))
  return given?.role ?? (repository.isPrivate ? 'none' : 'read')
}

const hasRole = (account: Account, repository: Guarded, least: Role): boolean => {
  const role = roleOf(account, repository)
  return role !== 'none' && roleNames.indexOf(role) >= roleNames.indexOf(least)
}

/** Whether the account's token allows access to the repository. Only tokens of Apps have limits. */
const isReached = ({ reach }: Account, repository: Guarded): boolean =>
  reach === undefined || (reach.writesUnder(repository.owner) && reach.covers(repository))

/** Whether the account may push to the repository and merge in it. */
export const mayPush = (account: Account | undefined, repository: Guarded): boolean =>
  account !== undefined && isReached(account, repository) && hasRole(account, repository, 'write')

/** Whether the account may label and close issues in the repository. */
export const mayTriage = (account: Account, repository: Guarded): boolean =>
  isReached(account, repository) && hasRole(account, repository, 'triage')

/**
 * Whether the account may read the repository. Everybody may read a public repository. A private one can be read by people with a role and by bots,
 * unless the limits of their token exclude it.
 */
export function mayRead(account: Account | undefined, repository: Guarded): boolean {
  if (!repository.isPrivate) return true
  if (!account || !isReached(account, repository)) return false
  return account.type === 'Bot' || roleOf(account, repository) !== 'none'
}
