/** Whether a person may read a repository at the code host: asked by its number, which no other repository takes, with their own token. */
import { LRUCache } from 'lru-cache'
import { limitConcurrency, serializeByKey } from '#platform/async/queue.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'

/**
 * `true` if the host said so within the last five minutes. `false` if it said no or could not be asked: then only the person's own access may be
 * used, which shows the cause. Never throws.
 */
export type MayRead = (ownerId: string, repositoryId: string) => Promise<boolean>

export interface MayReadDeps {
  /** A token of the person. What it throws is a `false`. */
  readonly tokenOf: (ownerId: string) => Promise<string>
  readonly codeHost: Pick<CodeHost, 'repositoryById'>
  readonly clock: Clock
}

const countsMs = 300_000
const remembered = 5_000
/** Questions about different people. */
const questionsAtOnce = 4
/** While the host is down, callers fail at once for this long, instead of each running into its time-out. */
const awayMs = 5_000

/** Remembers what the host said; questions about one person are asked one after the other, the same question once. */
export function mayRead({ tokenOf, codeHost, clock }: MayReadDeps): MayRead {
  const known = new LRUCache<string, { readonly may: boolean; readonly at: number }>({ max: remembered })
  const asked = new Map<string, Promise<boolean>>()
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
      if (fault instanceof CodeHostFault && fault.kind === 'unavailable') awayUntil = now() + awayMs
      return saysNo(fault) ? remember(false) : false
    }
  }

  return (ownerId, repositoryId) => {
    const key = keyOf(ownerId, repositoryId)
    const before = known.get(key)
    if (before && now() - before.at < countsMs) return Promise.resolve(before.may)
    const running =
      asked.get(key) ??
      inTurn(ownerId, () => fewAtOnce(() => ask(ownerId, repositoryId))).finally(() => asked.delete(key))
    asked.set(key, running)
    return running
  }
}

const keyOf = (ownerId: string, repositoryId: string) => `${ownerId} ${repositoryId}`

/** Whether the host refuses this person this repository, and not only for now. */
const saysNo = (fault: unknown): boolean =>
  fault instanceof CodeHostFault && ['not_found', 'forbidden', 'unauthorized'].includes(fault.kind)
