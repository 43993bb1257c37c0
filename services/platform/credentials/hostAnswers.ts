/** What the code host said and takes many requests to say: kept for some minutes, or until it tells of a change of installations. */
import { LRUCache } from 'lru-cache'
import type { GitHubAccess, InstallationsOfApp } from '#domain/api/github.schema.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { InstallationRequest } from '#platform/ports/codeHostApp.ts'

export interface HostAnswers<Answer extends object> {
  /**
   * What is kept under this name, or else what `read` answers: those who ask at once share one reading, and a fault is not kept. With
   * `again` it is read again, unless that was begun some seconds ago or is still under way.
   */
  of(name: string, read: () => Promise<Answer>, how: { readonly again: boolean }): Promise<Answer>
  /** The next who asks has it read again, unless another answer is kept or read by now. */
  forget(name: string, answer: Answer): void
}

const keptMs = 300_000
/** A reading takes up to a hundred requests of a limit of 5,000 an hour. */
const againMs = 10_000
/** Of what is read with the App's own limit, which everybody shares. */
const againOfAppMs = 30_000
const mostKept = 500

interface Kept<Answer> {
  readonly answer: Promise<Answer>
  readonly at: number
  read: Answer | null
  countsMs: number
}

/** Answers of one kind, in memory, for as long as the bus is there. `soonestMs`: between two readings that somebody asked for. */
export function hostAnswers<Answer extends object>({
  bus,
  clock,
  soonestMs = againMs,
}: {
  readonly bus: Pick<Bus, 'subscribe'>
  readonly clock: Clock
  readonly soonestMs?: number
}): HostAnswers<Answer> {
  const kept = new LRUCache<string, Kept<Answer>>({ max: mostKept })
  bus.subscribe('installations', () => kept.clear())
  const counts = ({ read, countsMs, at }: Kept<Answer>, again: boolean): boolean => {
    const atMostMs = read === null ? keptMs : again ? soonestMs : countsMs
    return clock.now().getTime() - at < atMostMs
  }
  return {
    of(name, read, { again }) {
      const known = kept.get(name)
      if (known && counts(known, again)) {
        // It may be from before what they want to see.
        if (again) known.countsMs = soonestMs
        return known.answer
      }
      const at = clock.now().getTime()
      const asked: Kept<Answer> = { answer: read(), at, read: null, countsMs: keptMs }
      kept.set(name, asked)
      asked.answer.then(
        (answer) => void (asked.read = answer),
        () => kept.get(name) === asked && kept.delete(name),
      )
      return asked.answer
    },
    forget: (name, answer) => void (kept.get(name)?.read === answer && kept.delete(name)),
  }
}

/** What is kept of the App for people who look at it. */
export interface GitHubAnswers {
  /** By person: what the App reaches for them. */
  readonly access: HostAnswers<GitHubAccess>
  /** Its installations, for administrators. */
  readonly installations: HostAnswers<InstallationsOfApp>
  /** Who asked an owner to install it, for everybody; `null` where the host does not say. */
  readonly requests: HostAnswers<{ readonly found: readonly InstallationRequest[] | null }>
}

export const gitHubAnswers = (
  engines: Pick<Parameters<typeof hostAnswers>[0], 'bus' | 'clock'>,
): GitHubAnswers => ({
  access: hostAnswers(engines),
  installations: hostAnswers(engines),
  requests: hostAnswers({ ...engines, soonestMs: againOfAppMs }),
})
