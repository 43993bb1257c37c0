/**
 * One holder of a name at a time, over all processes: for work that several could do and one should. Held by
 * `tests/contracts/leases.spec.ts`.
 */

/** Work that runs until it is stopped. `stop` resolves when nothing of it runs any more. */
export interface Held {
  stop(): Promise<void>
}

export interface Leases {
  /**
   * Waits for the lease of `name`, starts the work once it is held, stops it when the lease is lost, and waits again; for ever, until it is
   * stopped. A holder that dies is followed by another within 5 seconds, one that stops within 1. A `start` that throws gives the lease back
   * for a moment.
   * A holder that stands still and does not know it may go on for a while beside the next: what it writes must be told from what is newer
   * by a position, as the read store does, or by an id, as the job queue does.
   */
  hold(name: string, start: () => Promise<Held>): Held
  ready(): Promise<void>
  /** Stops all that is held. */
  close(): Promise<void>
}
