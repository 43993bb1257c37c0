/** The list of people who may sign in, as configured by the operator. */

/** A person in the forms that the list may use: by login or, written as `id:1001`, by id at the code host. */
export interface Named {
  readonly id: string
  /** In lower case, since logins are case-insensitive. */
  readonly login: string
}

/** Allows all members of an organization, or of one of its teams. Both names are in lower case. */
export interface AllowedOrganization {
  readonly organization: string
  readonly team: string | null
}

export interface AllowList {
  /** Whether anyone with an account at the code host may sign in, and anyone may register with a password if passwords are switched on. */
  readonly everybody: boolean
  /** Logins in lower case, and ids as `id:1001`. */
  readonly users: readonly string[]
  readonly organizations: readonly AllowedOrganization[]
  /** Administrators, in the form of `users`. They may sign in whatever the rest of the list says. */
  readonly admins: readonly string[]
}

export const everybody: AllowList = { everybody: true, users: [], organizations: [], admins: [] }

/** Whether a list contains a person, and whether by id or login. */
export function namesOf(list: readonly string[], person: Named): 'by_id' | 'by_login' | 'not' {
  if (list.includes(`id:${person.id}`)) return 'by_id'
  // A login with a colon is not accepted, so that a login can never pass for an id.
  return !person.login.includes(':') && list.includes(person.login) ? 'by_login' : 'not'
}

/** The message for a person who is not on the list. `login` is `null` for an account without a login. */
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
