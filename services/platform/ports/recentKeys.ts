/**
 * Idempotency keys of the last day, each with a digest of its request. The latest keys of each person are kept; no person's keys displace
 * another's. Held by `tests/contracts/recentKeys.spec.ts`.
 */
export interface RecentKeys {
  /**
   * Stores the digest under the key unless there is one already; returns the stored one, and whether it was there before. Of two concurrent
   * calls one is first.
   */
  remember(key: RecentKey, digest: string): Promise<{ readonly digest: string; readonly again: boolean }>
  ready(): Promise<void>
  close(): Promise<void>
}

export interface RecentKey {
  /** A UUID derived from the key, its person and the address of the request. */
  readonly id: string
  readonly person: string
}

/** How long a key is kept, and how many of one person; a key whose request may still run is kept in any case. */
export const recentKeyLimits = { keptMs: 24 * 3_600_000, ofPerson: 10_000, underWayMs: 120_000 } as const
export type RecentKeyLimits = { readonly [Name in keyof typeof recentKeyLimits]: number }

/** So many keys beyond the limits, of all persons together, may stand until the next clean-up. */
export const recentKeysBeyond = 100

/** Whose keys were added since the last clean-up. */
export function unlookedKeys() {
  let count = 0
  let persons = new Set<string>()
  return {
    /** Counts one more; returns the persons to clean up once it is time. */
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
