/**
 * Mutual exclusion across processes: one holder per name at a time, for work that only one process should do. Held by
 * `tests/contracts/leases.spec.ts`.
 */

/** Work that runs until it is stopped. `stop` resolves once all of it has ended. */
export interface RunningWork {
  stop(): Promise<void>
}

export interface Leases {
  /**
   * Waits for the lease of `name`, starts the work once the lease is held, stops the work when the lease is lost, and waits again, until stopped. A
   * new holder follows within 5 seconds after one that died, and within 1 second after one that stopped. If `start` throws, the lease is given up for
   * a moment. A holder that was suspended may run for a while at the same time as the next one, so its writes must be fenced: by a position as in the
   * read store, or by an id as in the job queue.
   */
  hold(name: string, start: () => Promise<RunningWork>): RunningWork
  ready(): Promise<void>
  /** Stops all work and gives up all leases. */
  close(): Promise<void>
}
