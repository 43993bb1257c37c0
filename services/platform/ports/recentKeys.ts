/**
 * The keys of writes that may come again, for a day: each with a digest of what was asked for under it. Of one person the latest are kept, and
 * nobody's are forgotten for another's. Held by `tests/contracts/recentKeys.spec.ts`.
 */
export interface RecentKeys {
  /**
   * Notes the digest under the key, unless one stands there; answers with the one that does, and whether it stood there before. Of two that
   * come at once one is first.
   */
  remember(key: RecentKey, digest: string): Promise<{ readonly digest: string; readonly again: boolean }>
  ready(): Promise<void>
  close(): Promise<void>
}

export interface RecentKey {
  /** A UUID that is made of the key, its person and the address that was asked. */
  readonly id: string
  readonly person: string
}

/** For how long a key is remembered, and how many of a person; one that may be under way is not forgotten however many there are. */
export const recentKeyLimits = { keptMs: 24 * 3_600_000, ofPerson: 10_000, underWayMs: 120_000 } as const
export type RecentKeyLimits = { readonly [Name in keyof typeof recentKeyLimits]: number }

/** Beyond the limits so many may stand, of all persons together, until they are looked at. */
export const recentKeysBeyond = 100

/** Whose keys were noted since the last look. */
export function unlookedKeys() {
  let count = 0
  let persons = new Set<string>()
  return {
    /** Counts one more; gives those who are to be looked at once it is time. */
    add(person: string): ReadonlySet<string> | undefined {
      count += 1
      persons.add(person)
      if (count < recentKeysBeyond) return undefined
      const due = persons
      count = 0
      persons = new Set()
      return due
    },
  }
}
