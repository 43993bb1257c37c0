/**
 * A durable work queue: a job is delivered to one worker at a time, again when its lease expires, and is removed once acknowledged. Slots are shared
 * fairly: nobody gets all slots of a worker; the next job belongs to the person with the fewest running jobs and, among those, to the one served
 * longest ago, as far as the queue can tell. Held by `tests/contracts/jobs.spec.ts`.
 */

import type { Position } from '#domain/kernel/event.ts'

/** A unit of work. The payload has only ids; facts are read from the log. */
export interface Job {
  /** The job's id: putting it twice queues the job once, even when it was done within the last 7 days. */
  readonly id: string
  readonly kind: string
  /** The person in whose share the job counts; without one, it counts in nobody's. */
  readonly person?: string
  readonly payload: Readonly<Record<string, string>>
}

/** How long a rejected job can be requeued, which gives an operator time to look. */
export const rejectedKeptMs = 90 * 24 * 3_600_000

export type JobState = 'queued' | 'leased' | 'done' | 'rejected'

export interface Delivery {
  readonly job: Job
  /** 1 at first; higher after a worker let the lease expire or gave the job back. */
  readonly attempt: number
  /** Renews the lease. Rejects with `LeaseLost` when it was lost, in which case work on the job must stop. */
  working(): Promise<void>
  /**
   * Reports whether the job waits for a person: it then takes no slot, and counts in nobody's share. When it goes on, more than `concurrency` jobs
   * may run for a while.
   */
  waits(isWaiting: boolean): void
  /** Marks the job as done, so that it is not delivered again. Does nothing once the lease was lost. */
  ack(): Promise<void>
  /** Gives the job back, to be delivered again after `delayMs`. Does nothing once the lease was lost. */
  nak(delayMs: number): Promise<void>
  /**
   * Rejects the job: it is kept for `rejectedKeptMs`, and only an operator can requeue it. The type and stack of the fault are stored, but not its
   * message, which may contain a person's words. Does nothing once the lease was lost.
   */
  reject(fault: unknown): Promise<void>
}

export interface Worker {
  /** Takes no more jobs. Resolves when the running ones are finished. */
  stop(): Promise<void>
}

export interface Jobs {
  /** Queues the job durably. Putting the same id again does nothing, unless the queue has lost its data. */
  put(job: Job): Promise<void>
  /**
   * Takes jobs of `kind`, at most `concurrency` at once, each with a lease of `leaseMs` that `working()` renews. If `handle` throws, the job is given
   * back after a pause; if it returns without acknowledging, the lease expires.
   */
  work(
    kind: string,
    options: { concurrency: number; leaseMs: number },
    handle: (delivery: Delivery) => Promise<void>,
  ): Worker
  /** The state of a job; `undefined` when it was never put, or was done more than 7 days ago. */
  stateOf(id: string): Promise<JobState | undefined>
  /** Stores up to which position the log was turned into jobs. Lost only together with the queue. */
  mark(name: string, position: Position): Promise<void>
  /** The last stored position; `null` when there is none. */
  marked(name: string): Promise<Position | null>
  pending(kind: string): Promise<number>
  /** Rejected jobs, newest first. */
  rejected(kind: string, limit: number): Promise<readonly { readonly job: Job; readonly reason: string }[]>
  /** Queues a rejected job again, as a first attempt; false when there is none with this id. */
  requeue(id: string): Promise<boolean>
  ready(): Promise<void>
  /** Stops all workers without waiting for running jobs; calls on those jobs fail from then on. */
  close(): Promise<void>
}
