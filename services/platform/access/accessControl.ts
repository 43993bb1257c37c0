/** Who may use this server: checked at each sign-in, and again while a person is signed in. */
import { createHmac } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Fault } from '#domain/kernel/errors.ts'
import { usersView, type UserDocument } from '#domain/views/users.ts'
import { atMost } from '#platform/atMost.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { Logger } from '#platform/log.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { CodeHostFault, type CodeHost, type HostAccount } from '#platform/ports/codeHost.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { namesOf, refusalSentence, type AllowList, type Named } from './allowList.ts'

export interface AccessControl {
  readonly isOpen: boolean
  /** Whether the account's owner may sign in, according to the list and the code host. Throws `CodeHostFault`. */
  allows(account: Pick<HostAccount, 'id' | 'login'>, accessToken: string): Promise<boolean>
  /**
   * Checks that the person still has access. Throws `not_allowed` for a person without access, `sign_in_required` when the code host must be queried
   * and accepts no token of theirs, and `code_host_unavailable` when it gives no answer and did not confirm the access in the last hour.
   * Results are cached for a while.
   */
  check(userId: string): Promise<void>
  /** Whether `ADMINS` lists the person, or whether the person owns the token of the single-user mode. */
  isAdmin(person: Pick<UserDocument, 'id' | 'githubId' | 'githubUsername'>): Promise<boolean>
  /** The message for a person without access. */
  refusal(login: string | null): string
}

interface Engines {
  readonly documents: Pick<Documents, 'get'>
  readonly access: Pick<HostAccess, 'tokenOf'>
  readonly codeHost: Pick<CodeHost, 'membership' | 'ownToken'>
  readonly vault: Pick<Vault, 'getSecret' | 'putSecret' | 'deriveKey'>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
}

interface Deps extends Engines {
  readonly list: AllowList
  readonly claims: NameClaims
}

/** How long the result of checking a person's access is valid, in milliseconds. */
export const answerLifetimesMs = {
  allowed: 300_000,
  refused: 30_000,
  /** How long after the last confirmation a person keeps access while the code host is unavailable. */
  withoutHost: 3_600_000,
}
const maxKept = 10_000

interface Answer {
  readonly allowed: boolean
  /** When the answer's validity began, in ms of the clock. Backdated in an outage, to check again sooner. */
  readonly validFrom: number
  /** When the code host or the list last confirmed the access, in milliseconds of the clock. */
  readonly confirmedAt: number
}

export function openAccessControl(
  options: { list: AllowList; codeHostName: string },
  engines: Engines,
): AccessControl {
  const { list } = options
  const deps = { ...engines, list, claims: openNameClaims(engines.vault, options.codeHostName) }
  const answerFor = cachedAnswers(deps)
  return {
    isOpen: list.everybody,
    async allows(account, accessToken) {
      if (list.everybody) return true
      const person = { id: account.id, login: account.login.toLowerCase() }
      return isListed(deps, person, async () => accessToken, 'claim')
    },
    async check(userId) {
      if (list.everybody) return
      const { allowed } = await answerFor(userId)
      if (allowed) return
      const person = await deps.documents.get(usersView, userId)
      throw new Fault('not_allowed', refusalSentence(list, person?.githubUsername ?? null))
    },
    async isAdmin(person) {
      const known = personOf(person)
      if (known === null) return false
      return (await isNamed(deps, list.admins, known, 'isFree')) || isOwnerOfToken(deps, person.id)
    },
    refusal: (login) => refusalSentence(list, login),
  }
}

/** Whether the person's stored token is the configured one. The code host, which may be unavailable, is not asked whose token it is. */
async function isOwnerOfToken({ codeHost, access }: Deps, userId: string): Promise<boolean> {
  if (codeHost.ownToken === undefined) return false
  const token = await access.tokenOf(userId).catch((fault: unknown) => {
    if (fault instanceof Fault || fault instanceof CodeHostFault) return undefined
    throw fault
  })
  return token === codeHost.ownToken
}

/**
 * How a login on the list is checked. At a sign-in, `claim` claims the login for the account. At a later check, `isFree` only verifies that no other
 * account has claimed it.
 */
type NameCheck = 'claim' | 'isFree'

async function isListed(
  deps: Deps,
  person: Named,
  tokenOf: () => Promise<string>,
  how: NameCheck,
): Promise<boolean> {
  const { users, admins } = deps.list
  return (await isNamed(deps, [...users, ...admins], person, how)) || isMember(deps, person, tokenOf, how)
}

async function isNamed(
  { claims, logger }: Deps,
  names: readonly string[],
  person: Named,
  how: NameCheck,
): Promise<boolean> {
  const named = namesOf(names, person)
  if (named !== 'by_login') return named === 'by_id'
  if (await claims[how]('user', person.login, person.id)) return true
  logger.warn(
    { githubId: person.id },
    'a login on the list now belongs to a different account: to let it in, add it by id, such as id:1001',
  )
  return false
}

async function isMember(
  { list, codeHost, claims }: Deps,
  person: Named,
  tokenOf: () => Promise<string>,
  how: NameCheck,
): Promise<boolean> {
  for (const { organization, team } of list.organizations) {
    const found = await codeHost.membership(await tokenOf(), { organization, team, login: person.login })
    if (found !== undefined && (await claims[how]('organization', organization, found.organizationId)))
      return true
  }
  return false
}

/** Returns a function that gives a person's result, from the cache or newly checked. Simultaneous requests share one check. */
function cachedAnswers(deps: Deps): (userId: string) => Promise<Answer> {
  const answers = new LRUCache<string, Answer>(atMost(maxKept))
  const asking = new Map<string, Promise<Answer>>()
  return async (userId) => {
    const last = answers.get(userId)
    const age = last === undefined ? Infinity : deps.clock.now().getTime() - last.validFrom
    if (last !== undefined && age < (last.allowed ? answerLifetimesMs.allowed : answerLifetimesMs.refused))
      return last
    const running = asking.get(userId) ?? ask(deps, userId, last).finally(() => asking.delete(userId))
    asking.set(userId, running)
    const answer = await running
    answers.set(userId, answer)
    return answer
  }
}

async function ask(deps: Deps, userId: string, last: Answer | undefined): Promise<Answer> {
  const now = deps.clock.now().getTime()
  const person = await deps.documents.get(usersView, userId)
  // A person who does not exist counts as allowed, since their requests fail anyway.
  if (person === undefined)
    return { allowed: true, validFrom: now - answerLifetimesMs.allowed, confirmedAt: now }
  const known = personOf(person)
  try {
    const allowed =
      known !== null && (await isListed(deps, known, () => deps.access.tokenOf(userId), 'isFree'))
    return { allowed, validFrom: now, confirmedAt: now }
  } catch (fault) {
    if (fault instanceof Fault && fault.code === 'github_not_connected') throw signInAgain()
    if (!(fault instanceof CodeHostFault)) throw fault
    if (fault.kind === 'unauthorized') throw signInAgain()
    // An outage of the code host must sign nobody out, so the last confirmation stays valid for a while.
    if (last?.allowed === true && now - last.confirmedAt < answerLifetimesMs.withoutHost)
      return { ...last, validFrom: now - answerLifetimesMs.allowed + answerLifetimesMs.refused }
    throw new Fault('code_host_unavailable', cannotAsk)
  }
}

const cannotAsk = "GitHub is not responding, so your access can't be checked. Try again later."
const signInAgain = () =>
  new Fault('sign_in_required', 'Sign in again so that your access can be checked with GitHub.')

const personOf = ({
  githubId,
  githubUsername,
}: Pick<UserDocument, 'githubId' | 'githubUsername'>): Named | null =>
  githubId === null || githubUsername === null ? null : { id: githubId, login: githubUsername.toLowerCase() }

/**
 * Binds each name on the access list to the first account that signed in under it. Logins and organization names can change hands at the code host,
 * and the new owner of a listed name must not get access with it.
 */
interface NameClaims {
  /** Whether the name belongs to this account, or to no account yet. */
  isFree(kind: NameKind, name: string, id: string): Promise<boolean>
  /** Checks the name like `isFree`; if the check succeeds, the account owns the name from now on. */
  claim(kind: NameKind, name: string, id: string): Promise<boolean>
}

type NameKind = 'user' | 'organization'

const scope = 'code-host-names'

/** Opens the claims on names. `codeHostName` keeps the names of different code hosts apart. */
function openNameClaims(
  vault: Pick<Vault, 'getSecret' | 'putSecret' | 'deriveKey'>,
  codeHostName: string,
): NameClaims {
  const key = vault.deriveKey('code-host-names')
  // Names of secrets are stored in clear, so the login is replaced by a keyed hash.
  const secretOf = (kind: NameKind, name: string): string =>
    createHmac('sha256', key).update(`${codeHostName}\n${kind}\n${name}`).digest('hex')
  const ownerOf = (kind: NameKind, name: string) => vault.getSecret(scope, secretOf(kind, name))
  return {
    async isFree(kind, name, id) {
      const owner = await ownerOf(kind, name)
      return owner === undefined || owner === id
    },
    async claim(kind, name, id) {
      const owner = await ownerOf(kind, name)
      if (owner === undefined) await vault.putSecret(scope, secretOf(kind, name), id)
      return owner === undefined || owner === id
    },
  }
}
