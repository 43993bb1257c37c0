/** What the code host said and takes many requests to say: kept for some minutes, or until it tells of a change of installations. */
import { LRUCache } from 'lru-cache'
import type { GitHubAccess, InstallationsOfApp } from '#domain/api/github.schema.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'

export interface HostAnswers<Answer extends object> {
  /**
   * What is kept under this name, or else what `read` answers: those who ask at once share one reading, and a fault is not kept. With
   * `again` it is read in any case.
   */
  of(name: string, read: () => Promise<Answer>, how: { readonly again: boolean }): Promise<Answer>
}

const keptMs = 300_000
const mostKept = 500

/** Answers of one kind, in memory, for as long as the bus is there. */
export function hostAnswers<Answer extends object>({
  bus,
  clock,
}: {
  readonly bus: Pick<Bus, 'subscribe'>
  readonly clock: Clock
}): HostAnswers<Answer> {
  const kept = new LRUCache<string, { readonly answer: Promise<Answer>; readonly at: number }>({
    max: mostKept,
  })
  bus.subscribe('installations', () => kept.clear())
  return {
    of(name, read, { again }) {
      const now = clock.now().getTime()
      const known = kept.get(name)
      if (known && !again && now - known.at < keptMs) return known.answer
      const asked = { answer: read(), at: now }
      kept.set(name, asked)
      asked.answer.catch(() => kept.get(name) === asked && kept.delete(name))
      return asked.answer
    },
  }
}

/** What is kept of the App for people who look at it. */
export interface GitHubAnswers {
  /** By person: what the App reaches for them. */
  readonly access: HostAnswers<GitHubAccess>
  /** Its installations, for administrators. */
  readonly installations: HostAnswers<InstallationsOfApp>
}

export const gitHubAnswers = (engines: Parameters<typeof hostAnswers>[0]): GitHubAnswers => ({
  access: hostAnswers(engines),
  installations: hostAnswers(engines),
})
