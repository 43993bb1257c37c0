/**
 * Idempotency keys of the last day, each with a digest of its request. Each person's latest keys are kept; one person's keys never displace
 * another's. Held by `tests/contracts/recentKeys.spec.ts`.
 */
export interface RecentKeys {
  /**
   * Stores the digest under the key unless there is one; returns the stored one, and whether it was already there. Concurrent calls are serialized.
   */
  remember(key: RecentKey, digest: string): Promise<{ readonly digest: string; readonly again: boolean }>
  ready(): Promise<void>
  close(): Promise<void>
}

export interface RecentKey {
  /** The id: a UUID derived from the key, its person and the address of the request. */
  readonly id: string
  readonly person: string
}

/** How long and how many keys are kept per person; a key whose request may still be running is always kept. */
export const recentKeyLimits = { keptMs: 24 * 3_600_000, ofPerson: 10_000, underWayMs: 120_000 } as const
export type RecentKeyLimits = { readonly [Name in keyof typeof recentKeyLimits]: number }

/** The store is cleaned up after this many added keys, so it may exceed its limits by this number. */
export const recentKeysPerCleanUp = 100

/** Tracks the persons whose keys were added since the last clean-up. */
export function cleanUpsDue() {
  let count = 0
  let persons = new Set<string>()
  return {
    /** Counts a key; returns the persons to clean up when that is due. */
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
