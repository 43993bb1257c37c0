/**
 * The keys of the last day, each with a digest: idempotency keys of requests, and ids of tickets that work only once. Limits are per person, so that
 * nobody's keys displace those of others. Tested by `tests/contracts/recentKeys.spec.ts`.
 */
export interface RecentKeys {
  /**
   * Stores the digest under the key unless the key already has one. Returns the digest that is now stored, and whether it was stored before this
   * call. Concurrent calls are serialized.
   */
  remember(key: RecentKey, digest: string): Promise<{ readonly digest: string; readonly again: boolean }>
  ready(): Promise<void>
  close(): Promise<void>
}

export interface RecentKey {
  /** For a request, a UUID derived from its idempotency key, the person and the address; for a ticket, its id. */
  readonly id: string
  readonly person: string
}

/** How long keys are kept, and how many per person. A key whose request may still be running is always kept. */
export const recentKeyLimits = { keptMs: 24 * 3_600_000, ofPerson: 10_000, underWayMs: 120_000 } as const
export type RecentKeyLimits = { readonly [Name in keyof typeof recentKeyLimits]: number }

/** Each process cleans up the store whenever it has added this many keys, so the store may exceed its limits by that many for each process. */
export const recentKeysPerCleanUp = 100

/** Tracks the people whose keys were added since the last clean-up. */
export function cleanUpsDue() {
  let count = 0
  let persons = new Set<string>()
  return {
    /** Counts a key. If a clean-up is due, returns the people whose keys must be cleaned up. */
    add(person: string): ReadonlySet<string> | undefined {
      count += 1
      persons.add(person)
      if (count < recentKeysPerCleanUp) return undefined
      const due = persons
      count = 0
      persons = new Set()
      return due
    },
  }
}
