/** The accounts of the local code host: people and an organisation, without passwords, and the bots of Apps. */
import { createHash } from 'node:crypto'

/** The limits of a token of an App. It can change a repository, or read a private one, only if both functions return true. */
export interface Reach {
  /** Whether the token allows changes in repositories of this owner. */
  writesUnder(ownerLogin: string): boolean
  covers(repository: { readonly id: number; readonly owner: string }): boolean
}

/** A person who can sign in, or the bot of an App. */
export interface Account {
  readonly type: 'User' | 'Bot'
  readonly id: number
  readonly login: string
  readonly name: string
  readonly email: string
  /** The limits of the account's token; missing when its token has none. */
  readonly reach?: Reach
}

/** A group of people in an organisation; `slug` is its name in addresses. */
export interface Team {
  readonly id: number
  readonly slug: string
  readonly name: string
  readonly members: readonly string[]
}

/** An organisation. Its owners may do everything in its repositories. Other people may push only with a role in the repository. */
export interface Organization {
  readonly type: 'Organization'
  readonly id: number
  readonly login: string
  readonly name: string
  readonly description: string
  readonly owners: readonly string[]
  /** The logins of the members who are not owners. */
  readonly members: readonly string[]
  readonly teams: readonly Team[]
}

/** A person or an organisation. Both can own repositories. */
export type Owner = Account | Organization

export const ada: Account = {
  type: 'User',
  id: 1001,
  login: 'ada',
  name: 'Ada Lovelace',
  email: 'ada@example.com',
}

export const grace: Account = {
  type: 'User',
  id: 1002,
  login: 'grace',
  name: 'Grace Hopper',
  email: 'grace@example.com',
}

/** A member of `acme` who is not an owner, and who must ask an owner to install an App. */
export const alan: Account = {
  type: 'User',
  id: 1004,
  login: 'alan',
  name: 'Alan Turing',
  email: 'alan@example.com',
}

export const acme: Organization = {
  type: 'Organization',
  id: 2001,
  login: 'acme',
  name: 'Acme',
  description: 'A company that makes everything',
  owners: [ada.login],
  members: [alan.login],
  teams: [{ id: 3001, slug: 'core', name: 'Core', members: [ada.login] }],
}

/** A person without any role, for comments by outsiders. */
export const mallory: Account = {
  type: 'User',
  id: 1003,
  login: 'mallory',
  name: 'Mallory Outsider',
  email: 'mallory@example.com',
}

export const accounts: readonly Account[] = [ada, grace, mallory, alan]
export const organizations: readonly Organization[] = [acme]

/** Compares logins without case, as GitHub does. */
export const sameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** The person with this login; `undefined` when nobody has it. */
export const personOf = (login: string): Account | undefined =>
  accounts.find((account) => sameName(account.login, login))

/** The person or bot with this login. Any login that ends in `[bot]` is the login of a bot, even if its App was deleted. */
export const accountOf = (login: string): Account | undefined => {
  const [, slug] = /^([a-z0-9-]+)\[bot\]$/i.exec(login) ?? []
  return slug === undefined ? personOf(login) : botOf(slug)
}

/** The bot that uses an App's own tokens. Its id is derived from its login, so that pages can show its texts even if the App was deleted. */
export function botOf(slug: string): Account {
  const login = `${slug.toLowerCase()}[bot]`
  const id = 10_000_000 + (createHash('sha256').update(login).digest().readUInt32BE(0) % 200_000_000)
  return { type: 'Bot', id, login, name: login, email: `${id}+${login}@users.noreply.localhost` }
}

/** The organisation with this login; `undefined` when no organisation has it. */
export const organizationOf = (login: string): Organization | undefined =>
  organizations.find((organization) => sameName(organization.login, login))

/** The person or organisation with this login; `undefined` when neither has it. */
export const ownerOf = (login: string): Owner | undefined => personOf(login) ?? organizationOf(login)

/** The organisations of which the person is an owner or a member. */
export const membershipsOf = (account: Account): readonly Organization[] =>
  organizations.filter(({ owners, members }) => [...owners, ...members].includes(account.login))

/** The organisations that a person owns. */
export const organizationsOf = (account: Account): readonly Organization[] =>
  organizations.filter((organization) => organization.owners.includes(account.login))
