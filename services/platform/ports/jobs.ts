/**
 * A durable work queue. A job is delivered to one worker at a time. It is delivered again when its lease expires, and removed when it is
 * acknowledged. Slots are shared fairly: nobody gets all slots of a worker that has several. The next job is a job of the person with the fewest
 * running jobs. Among several such people, the person who was served longest ago comes first, as far as the queue knows. Tested by
 * `tests/contracts/jobs.spec.ts`.
 */

import type { Position } from '#domain/kernel/event.ts'

/** A unit of work. The payload contains only ids; facts are read from the log. */
export interface Job {
  /** The job's id. Putting a job twice queues it once, even when it was done within the last 7 days. */
  readonly id: string
  readonly kind: string
  /** The person for whom the job runs. Slots are shared fairly among people, and a job without a person counts for nobody. */
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
  /** Renews the lease. Rejects with `LeaseLost` when the lease was lost: work on the job must then stop. */
  working(): Promise<void>
  /**
   * Frees the job's slot while the job waits for a person, and no longer counts the job among the person's running jobs. When the job continues, more
   * than `concurrency` jobs may run for a while.
   */
  waits(isWaiting: boolean): void
  /** Marks the job as done, so that it is not delivered again. Does nothing when the lease was lost. */
  ack(): Promise<void>
  /** Gives the job back, to be delivered again after `delayMs`. Does nothing when the lease was lost. */
  nak(delayMs: number): Promise<void>
  /**
   * Rejects the job: it is kept for `rejectedKeptMs`, and only an operator can requeue it. The fault's type and stack are stored, but not its
   * message, which may contain a person's text. Does nothing when the lease was lost.
   */
  reject(fault: unknown): Promise<void>
}

export interface Worker {
  /** Stops taking jobs. Resolves when the running ones have finished. */
  stop(): Promise<void>
}

export interface Jobs {
  /** Queues the job durably. Does nothing for an id whose job the queue already has (see `Job.id`). */
  put(job: Job): Promise<void>
  /**
   * Runs jobs of `kind`, at most `concurrency` at once, each with a lease of `leaseMs` that `working()` renews. If `handle` throws, the job is given
   * back after a pause; if it returns without acknowledging, the lease expires.
   */
  work(
    kind: string,
    options: { concurrency: number; leaseMs: number },
    handle: (delivery: Delivery) => Promise<void>,
  ): Worker
  /**
   * The state of a job; `undefined` when it was never put, and when it was done more than 7 days ago or rejected more than `rejectedKeptMs` ago. Some
   * queues forget every state that has not changed for 7 days.
   */
  stateOf(id: string): Promise<JobState | undefined>
  /** Stores the position up to which the log was turned into jobs. The mark is lost only together with the queue. */
  mark(name: string, position: Position): Promise<void>
  /** The last stored position; `null` when there is none. */
  marked(name: string): Promise<Position | null>
  pending(kind: string): Promise<number>
  /** Rejected jobs, newest first. */
  rejected(kind: string, limit: number): Promise<readonly { readonly job: Job; readonly reason: string }[]>
  /** Queues a rejected job again, as a first attempt; false when there is no rejected job with this id. */
  requeue(id: string): Promise<boolean>
  ready(): Promise<void>
  /** Stops all workers without waiting for running jobs; calls on those jobs fail from then on. */
  close(): Promise<void>
}
