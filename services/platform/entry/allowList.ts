/** The list of who may come in, as the operator wrote it. */

/** A person, as the list may name them: by the login at the code host, or by the id there, as `id:1001`. */
export interface Named {
  readonly id: string
  /** In small letters: logins compare without case. */
  readonly login: string
}

/** Everybody in an organisation, or in one of its teams. In small letters. */
export interface AllowedOrganization {
  readonly organization: string
  readonly team: string | null
}

export interface AllowList {
  /** Whoever the code host shows may come in, and who registers with a password as well. */
  readonly everybody: boolean
  /** Logins in small letters, and ids as `id:1001`. */
  readonly users: readonly string[]
  readonly organizations: readonly AllowedOrganization[]
  /** As `users`. They may come in whatever the rest says. */
  readonly admins: readonly string[]
}

export const everybody: AllowList = { everybody: true, users: [], organizations: [], admins: [] }

/** How the entries of a list may name a person. */
export function namesOf(list: readonly string[], person: Named): 'by_id' | 'by_login' | 'not' {
  if (list.includes(`id:${person.id}`)) return 'by_id'
  // No login has a colon: what looks like an id is none.
  return !person.login.includes(':') && list.includes(person.login) ? 'by_login' : 'not'
}

/** What a person is told whom the list does not have. `login` is `null` for an account without one. */
export function refusalSentence({ admins }: Pick<AllowList, 'admins'>, login: string | null): string {
  const logins = admins.filter((name) => !name.startsWith('id:'))
  const whom = logins.length === 0 ? 'Ask its administrator' : `Ask ${asOr(logins)}`
  return login === null
    ? `This account does not have access to this server. ${whom} for access, or sign in with a GitHub account that has it.`
    : `The GitHub account ${login} does not have access to this server. ${whom} for access.`
}

function asOr(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`
}
