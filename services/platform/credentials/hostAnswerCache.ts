/** Caches answers of the code host that need many requests, for some minutes or until a webhook reports a change of installations. */
import { LRUCache } from 'lru-cache'
import type { GitHubAccess, InstallationsOfApp } from '#domain/api/github.schema.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { InstallationRequest } from '#platform/ports/codeHostApp.ts'

export interface HostAnswers<Answer extends object> {
  /**
   * The cached answer for this name, or else the result of `read`. Simultaneous callers share one read, and faults are not cached. With `again`, the
   * answer is read again, unless a read is running or began only seconds ago.
   */
  of(name: string, read: () => Promise<Answer>, how: { readonly again: boolean }): Promise<Answer>
  /** Makes the next caller read again, unless another answer is cached or being read by now. */
  forget(name: string, answer: Answer): void
}

const keptMs = 300_000
/** The least time between two reads with `again`. Each read may take a hundred requests, and the code host allows 5,000 requests an hour. */
const againMs = 10_000
/** The least time between two reads with `again` that use the App's own rate limit, which everybody shares. */
const againOfAppMs = 30_000
const maxKept = 500

interface Kept<Answer> {
  readonly answer: Promise<Answer>
  readonly at: number
  read: Answer | null
  countsMs: number
}

/** A cache for one kind of answer, in memory. `soonestMs` is the least time between two reads with `again`. */
export function hostAnswers<Answer extends object>({
  bus,
  clock,
  soonestMs = againMs,
}: {
  readonly bus: Pick<Bus, 'subscribe'>
  readonly clock: Clock
  readonly soonestMs?: number
}): HostAnswers<Answer> {
  const kept = new LRUCache<string, Kept<Answer>>({ max: maxKept })
  bus.subscribe('installations', () => kept.clear())
  const counts = ({ read, countsMs, at }: Kept<Answer>, again: boolean): boolean => {
    const atMostMs = read === null ? keptMs : again ? soonestMs : countsMs
    return clock.now().getTime() - at < atMostMs
  }
  return {
    of(name, read, { again }) {
      const known = kept.get(name)
      if (known && counts(known, again)) {
        // The read may have begun before the change that the caller wants to see, so its answer is kept only for a short time.
        if (again) known.countsMs = soonestMs
        return known.answer
      }
      const at = clock.now().getTime()
      const entry: Kept<Answer> = { answer: read(), at, read: null, countsMs: keptMs }
      kept.set(name, entry)
      entry.answer.then(
        (answer) => void (entry.read = answer),
        () => kept.get(name) === entry && kept.delete(name),
      )
      return entry.answer
    },
    forget: (name, answer) => void (kept.get(name)?.read === answer && kept.delete(name)),
  }
}

export interface GitHubAnswers {
  /** Each person's access through the App, by user id. */
  readonly access: HostAnswers<GitHubAccess>
  readonly installations: HostAnswers<InstallationsOfApp>
  /** The requests of all people to install the App; `null` when the code host does not say. */
  readonly requests: HostAnswers<{ readonly found: readonly InstallationRequest[] | null }>
}

export const gitHubAnswers = (
  engines: Pick<Parameters<typeof hostAnswers>[0], 'bus' | 'clock'>,
): GitHubAnswers => ({
  access: hostAnswers(engines),
  installations: hostAnswers(engines),
  requests: hostAnswers({ ...engines, soonestMs: againOfAppMs }),
})
