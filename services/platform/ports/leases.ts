/**
 * Mutual exclusion across processes: each name has one holder at a time, for work that only one process should do. Tested by
 * `tests/contracts/leases.spec.ts`.
 */

/** Work that runs until it is stopped. `stop` resolves when all of it has ended. */
export interface RunningWork {
  stop(): Promise<void>
}

export interface Leases {
  /**
   * Waits for the lease of `name`, starts the work when it is held, stops the work when the lease is lost, and waits again, until stopped. If a
   * holder dies, the next one follows within 5 seconds; if it stops, within 1 second. If `start` throws, the lease is given up for a moment. A holder
   * that was suspended may run for a while at the same time as the next one. Its late writes must do no harm: the read store ignores a write with an
   * older position, and the job queue ignores a job whose id it has.
   */
  hold(name: string, start: () => Promise<RunningWork>): RunningWork
  ready(): Promise<void>
  /** Stops all work and gives up all leases. */
  close(): Promise<void>
}
