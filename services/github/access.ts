/**
 * Chooses the access by which a task's pull request is read at the code host: an installation of the App if the task's owner may read the same
 * repository, else the owner's own access.
 */
import { LRUCache } from 'lru-cache'
import { Fault } from '#domain/kernel/errors.ts'
import { atMost } from '#platform/atMost.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type {
  InstalledRepository,
  Installations,
  RepositoryToken,
} from '#platform/credentials/installations.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import { limitConcurrency, serializeByKey } from '#platform/async/queue.ts'

/** An access to the code host. All reads through one access share its rate limit. */
export type ReadAccess = OwnAccess | InstallationAccess

interface Tokens {
  readonly holder: string
  /**
   * A token for reads by the code host's ids. Throws like `HostAccess.tokenOf`, and CodeHostFault `rate_limited` when only the last tenth of the rate
   * limit is left, which is reserved for requests that people wait for.
   */
  token(): Promise<string>
  /**
   * A token for reads by the repository's name. Another repository may have taken over the name, so a token of an installation covers only this
   * repository.
   */
  repositoryToken(): Promise<string>
}

/** The access of a person. */
export interface OwnAccess extends Tokens {
  readonly kind: 'own'
}

/**
 * The access of an installation of the App. Getting a token throws CodeHostFault `unauthorized` when the installation must no longer be used, and
 * Fault `app_key_refused` when the code host refuses the App's key.
 */
export interface InstallationAccess extends Tokens {
  readonly kind: 'installation'
  /** The owner's access, which is used when the installation cannot see something. */
  readonly own: OwnAccess
  /** Chooses the access again. Called before each read, since the wait in the queue may have been long. */
  again(): Promise<ReadAccess>
  /** Reports that the code host refused a token. The installation and its tokens are then requested again, at most every five minutes. */
  refused(): void
}

/** The task that a read is about: the task's owner, and the number and owner of the task's repository at the code host, if known. */
export interface Read {
  readonly ownerId: string
  readonly repositoryId: string | null
  readonly repositoryOwner?: string | null
}

/** Chooses the access for a task's pull request. */
export type TokenFor = (of: Read) => Promise<ReadAccess>

interface OwnAccessDeps {
  readonly access: Pick<HostAccess, 'tokenOf'>
  readonly codeHost: Pick<CodeHost, 'allowance'>
  readonly clock: Clock
}

export interface AccessDeps extends OwnAccessDeps {
  readonly installations: Pick<Installations, 'readingToken' | 'tokenFor' | 'forget'>
  readonly codeHost: Pick<CodeHost, 'allowance' | 'repositoryById'>
}

/** Returns a function that makes a person's own access from the person's id. */
export function ownAccess(deps: OwnAccessDeps): (ownerId: string) => OwnAccess {
  const sparing = sparingOf(deps)
  return (ownerId) => {
    const token = async () => sparing(await deps.access.tokenOf(ownerId))
    return { kind: 'own', holder: `user:${ownerId}`, token, repositoryToken: token }
  }
}

/** Returns a function that refuses a token if only a tenth of its rate limit is left, since that tenth is reserved for people. */
function sparingOf({ codeHost, clock }: Pick<OwnAccessDeps, 'codeHost' | 'clock'>) {
  return (token: string): string => {
    const left = codeHost.allowance(token)
    const waitMs = left ? left.resetsAt - clock.now().getTime() : 0
    if (left && waitMs > 0 && left.remaining < left.limit / 10)
      throw new CodeHostFault('rate_limited', 'What is left is for people.', undefined, waitMs)
    return token
  }
}

const renewalIntervalMs = 300_000
const maxRefusals = 1_000
/** An installation whose tokens were refused `times` in a row, although new tokens were requested after each refusal, is not used for `restMs`. */
const refusalLimit = { times: 3, restMs: 3_600_000 }

/**
 * Refusals of an installation's tokens: `times` in a row, with new tokens requested after each. `isRenewed` says whether that was done after the
 * last.
 */
interface Refusal {
  readonly at: number
  readonly times: number
  isRenewed: boolean
}

/**
 * Chooses the App's installation that has the repository. Chooses the access of the task's owner instead when there is no such installation, when its
 * tokens were refused too often, when the code host does not answer, or when the owner may not read the repository.
 */
export function readAccess(deps: AccessDeps): TokenFor {
  const { codeHost, clock, installations } = deps
  const ownOf = ownAccess(deps)
  const sparing = sparingOf(deps)
  const mayOwnerRead = mayRead({ tokenOf: (ownerId) => ownOf(ownerId).token(), codeHost, clock })
  /** For each repository, the last refusals of its installation's tokens. */
  const refusals = new LRUCache<string, Refusal>({ max: maxRefusals })
  const now = () => clock.now().getTime()

  function refuse(id: string): void {
    const [at, last] = [now(), refusals.get(id)]
    if (last && at - last.at < renewalIntervalMs) return
    const isInRow =
      last?.isRenewed === true && last.times < refusalLimit.times && at - last.at < refusalLimit.restMs
    refusals.set(id, { at, times: isInRow ? last.times + 1 : 1, isRenewed: false })
    installations.forget()
  }
  const isResting = (id: string): boolean => {
    const last = refusals.get(id)
    return last !== undefined && last.times >= refusalLimit.times && now() - last.at < refusalLimit.restMs
  }
  async function ask(repository: InstalledRepository): Promise<RepositoryToken> {
    const refusal = refusals.get(repository.id)
    if (refusal === undefined || refusal.isRenewed) return installations.readingToken(repository)
    refusal.isRenewed = true
    return installations.readingToken(repository, { fresh: true }).catch((fault: unknown) => {
      refusal.isRenewed = false
      throw fault
    })
  }

  async function choose(of: Read): Promise<ReadAccess> {
    const { ownerId, repositoryId, repositoryOwner = null } = of
    const own = ownOf(ownerId)
    if (repositoryId === null || repositoryOwner === null || isResting(repositoryId)) return own
    const repository = { id: repositoryId, owner: repositoryOwner }
    const found = await ask(repository).catch(unlessOfHost)
    if (found instanceof Fault) return keyRefused(found, own, () => choose(of))
    if (found?.kind !== 'token' || !(await mayOwnerRead(ownerId, repositoryId))) return own
    const current = async (asked: Promise<RepositoryToken>): Promise<string> => {
      const token = await asked
      if (token.kind !== 'token' || !(await mayOwnerRead(ownerId, repositoryId)))
        throw new CodeHostFault('unauthorized', 'The installation is not to be used for this any more.')
      return sparing(token.accessToken)
    }
    return {
      kind: 'installation',
      holder: `installation:${found.installation.id}`,
      own,
      token: () => current(ask(repository)),
      repositoryToken: () => current(installations.tokenFor(repository, 'reading')),
      again: () => choose(of),
      refused: () => refuse(repositoryId),
    }
  }
  return choose
}

/** An access with which every read fails until the code host accepts the App's key again. */
function keyRefused(fault: Fault, own: OwnAccess, again: () => Promise<ReadAccess>): InstallationAccess {
  const token = async () => Promise.reject(fault)
  return { kind: 'installation', holder: 'app', own, token, repositoryToken: token, again, refused() {} }
}

/**
 * Returns the fault if the App's key is refused, since no other access may then be used. Returns `undefined` for other faults of the code host: then
 * the person's own access is tried, and its fault shows the cause.
 */
function unlessOfHost(fault: unknown): Fault | undefined {
  if (fault instanceof Fault && fault.code === 'app_key_refused') return fault
  if (!(fault instanceof CodeHostFault)) throw fault
  return undefined
}

/**
 * Whether a person may read a repository. Asks with the person's own token and by the repository's number, which no other repository can get. `true`
 * if the code host said so within the last five minutes. `false` if it refused or gave no answer: then only the person's own access may be used,
 * which shows the cause. Never throws.
 */
type MayRead = (ownerId: string, repositoryId: string) => Promise<boolean>

interface MayReadDeps {
  /** A token of the person. If this throws, the answer is `false`. */
  readonly tokenOf: (ownerId: string) => Promise<string>
  readonly codeHost: Pick<CodeHost, 'repositoryById'>
  readonly clock: Clock
}

const answerLifeMs = 300_000
const maxAnswers = 5_000
/** The maximum number of people about whom the code host is asked at the same time. */
const questionsAtOnce = 4
/** While the code host is unavailable, requests fail at once for this long instead of each waiting for its timeout. */
const hostDownPauseMs = 5_000

/** Makes a `MayRead` that caches the code host's answers. Requests about one person run one after the other, and equal requests share one answer. */
export function mayRead({ tokenOf, codeHost, clock }: MayReadDeps): MayRead {
  const known = new LRUCache<string, { readonly may: boolean; readonly at: number }>(atMost(maxAnswers))
  const pending = new Map<string, Promise<boolean>>()
  const inTurn = serializeByKey()
  const fewAtOnce = limitConcurrency(questionsAtOnce)
  const now = () => clock.now().getTime()
  let awayUntil = Number.NEGATIVE_INFINITY

  async function ask(ownerId: string, repositoryId: string): Promise<boolean> {
    if (now() < awayUntil) return false
    const remember = (may: boolean) => {
      known.set(keyOf(ownerId, repositoryId), { may, at: now() })
      return may
    }
    try {
      await codeHost.repositoryById(await tokenOf(ownerId), repositoryId)
      return remember(true)
    } catch (fault) {
      if (fault instanceof CodeHostFault && fault.kind === 'unavailable') awayUntil = now() + hostDownPauseMs
      return saysNo(fault) ? remember(false) : false
    }
  }

  return (ownerId, repositoryId) => {
    const key = keyOf(ownerId, repositoryId)
    const before = known.get(key)
    if (before && now() - before.at < answerLifeMs) return Promise.resolve(before.may)
    const running =
      pending.get(key) ??
      inTurn(ownerId, () => fewAtOnce(() => ask(ownerId, repositoryId))).finally(() => pending.delete(key))
    pending.set(key, running)
    return running
  }
}

const keyOf = (ownerId: string, repositoryId: string) => `${ownerId} ${repositoryId}`

/** Whether the code host refuses the repository to this person permanently. */
const saysNo = (fault: unknown): boolean =>
  fault instanceof CodeHostFault && ['not_found', 'forbidden', 'unauthorized'].includes(fault.kind)
