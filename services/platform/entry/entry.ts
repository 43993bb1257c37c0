/** Who may come in: asked at each sign-in, and again while somebody is in. */
import { Fault } from '#domain/kernel/errors.ts'
import { usersView, type UserDocument } from '#domain/views/users.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { Logger } from '#platform/log.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { CodeHostFault, type CodeHost, type HostAccount } from '#platform/ports/codeHost.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { namesOf, refusalSentence, type AllowList, type Named } from './allowList.ts'
import { firstHolders } from './firstHolders.ts'

export interface Entry {
  /** Nobody is refused, and nothing is asked. */
  readonly isOpen: boolean
  /** Whether who has shown this account may sign in, by the code host's own word of now. Throws `CodeHostFault`. */
  admits(account: Pick<HostAccount, 'id' | 'login'>, accessToken: string): Promise<boolean>
  /**
   * Throws `not_allowed` for somebody who may not be here any more, `sign_in_required` when the code host must be asked and no longer
   * takes their token, `code_host_unavailable` when it has not answered for too long. Its answers are good for a while.
   */
  check(userId: string): Promise<void>
  isAdmin(person: Pick<UserDocument, 'githubId' | 'githubUsername'>): Promise<boolean>
  /** What a refused person is told. */
  refusal(login: string | null): string
}

interface Engines {
  readonly documents: Pick<Documents, 'get'>
  readonly access: Pick<HostAccess, 'tokenOf'>
  readonly codeHost: Pick<CodeHost, 'membership'>
  readonly vault: Pick<Vault, 'getSecret' | 'putSecret' | 'deriveKey'>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
}

/** How long an answer is good, in milliseconds. */
export const answersHold = {
  allowed: 300_000,
  refused: 30_000,
  /** Somebody was allowed so long ago at most, and the code host does not answer. */
  withoutHost: 3_600_000,
}
/** People whose answers are kept. */
const mostKept = 10_000

interface Answer {
  readonly allowed: boolean
  /** In milliseconds of the clock. */
  readonly since: number
  /** When the code host, or the list, last said so. */
  readonly said: number
}

export function entry(options: { list: AllowList; codeHostName: string }, engines: Engines): Entry {
  const { list } = options
  const { documents, access, codeHost, clock, logger } = engines
  const holders = firstHolders(engines.vault, options.codeHostName)
  const answers = new Map<string, Answer>()
  const asking = new Map<string, Promise<Answer>>()

  async function isNamed(names: readonly string[], person: Named, how: 'claim' | 'mayBe'): Promise<boolean> {
    const named = namesOf(names, person)
    if (named !== 'by_login') return named === 'by_id'
    if (await holders[how]('user', person.login, person.id)) return true
    logger.warn(
      { githubId: person.id },
      'a login on the list now belongs to a different account: to let it in, add it by id, such as id:1001',
    )
    return false
  }

  async function isMember(
    person: Named,
    tokenOf: () => Promise<string>,
    how: 'claim' | 'mayBe',
  ): Promise<boolean> {
    for (const { organization, team } of list.organizations) {
      const found = await codeHost.membership(await tokenOf(), { organization, team, login: person.login })
      if (found !== undefined && (await holders[how]('organization', organization, found.organizationId)))
        return true
    }
    return false
  }

  const named = [...list.users, ...list.admins]
  const isOnList = async (person: Named, tokenOf: () => Promise<string>, how: 'claim' | 'mayBe') =>
    (await isNamed(named, person, how)) || isMember(person, tokenOf, how)

  async function ask(userId: string, last: Answer | undefined): Promise<Answer> {
    const now = clock.now().getTime()
    const person = await documents.get(usersView, userId)
    // Whoever asks for a person who is not there is told so by what they ask.
    if (person === undefined) return { allowed: true, since: now - answersHold.allowed, said: now }
    const known = personOf(person)
    try {
      const allowed = known !== null && (await isOnList(known, () => access.tokenOf(userId), 'mayBe'))
      return { allowed, since: now, said: now }
    } catch (fault) {
      if (fault instanceof Fault && fault.code === 'github_not_connected') throw askAnew()
      if (!(fault instanceof CodeHostFault)) throw fault
      if (fault.kind === 'unauthorized') throw askAnew()
      // What was true a while ago is believed a while longer: nobody is thrown out because the code host is down.
      if (last?.allowed === true && now - last.said < answersHold.withoutHost)
        return { ...last, since: now - answersHold.allowed + answersHold.refused }
      throw new Fault('code_host_unavailable', cannotAsk)
    }
  }

  function keep(userId: string, answer: Answer): void {
    answers.delete(userId)
    answers.set(userId, answer)
    const [oldest] = answers.keys()
    if (answers.size > mostKept && oldest !== undefined) answers.delete(oldest)
  }

  async function answerFor(userId: string): Promise<Answer> {
    const last = answers.get(userId)
    const age = last === undefined ? Infinity : clock.now().getTime() - last.since
    if (last !== undefined && age < (last.allowed ? answersHold.allowed : answersHold.refused)) return last
    // Who asks much at once is asked about once.
    const running = asking.get(userId) ?? ask(userId, last).finally(() => asking.delete(userId))
    asking.set(userId, running)
    const answer = await running
    keep(userId, answer)
    return answer
  }

  return {
    isOpen: list.everybody,
    async admits(account, accessToken) {
      if (list.everybody) return true
      const person = { id: account.id, login: account.login.toLowerCase() }
      return isOnList(person, async () => accessToken, 'claim')
    },
    async check(userId) {
      if (list.everybody) return
      const { allowed } = await answerFor(userId)
      if (allowed) return
      const person = await documents.get(usersView, userId)
      throw new Fault('not_allowed', refusalSentence(list, person?.githubUsername ?? null))
    },
    async isAdmin(person) {
      const known = personOf(person)
      return known !== null && isNamed(list.admins, known, 'mayBe')
    },
    refusal: (login) => refusalSentence(list, login),
  }
}

const cannotAsk = "GitHub is not responding, so your access can't be checked. Try again later."
const askAnew = () =>
  new Fault('sign_in_required', 'Sign in again so that your access can be checked with GitHub.')

const personOf = ({
  githubId,
  githubUsername,
}: Pick<UserDocument, 'githubId' | 'githubUsername'>): Named | null =>
  githubId === null || githubUsername === null ? null : { id: githubId, login: githubUsername.toLowerCase() }
