/**
 * A durable work queue: a job is delivered to one worker at a time, again when its lease runs out, and is gone once it is acknowledged.
 * Slots are shared fairly between persons: nobody has all slots of a worker; the next job is of the person with the fewest running jobs,
 * and of several such persons of the one served longest ago, as far as the queue can tell. Held by `tests/contracts/jobs.spec.ts`.
 */

import type { Position } from '#domain/kernel/event.ts'

/** Work to be done. The payload holds ids; facts are read from the log. */
export interface Job {
  /** The job's name: putting the same id twice queues it once, also when it was done less than 7 days ago. */
  readonly id: string
  readonly kind: string
  /** The person whose share of the slots it takes; without it, nobody's. */
  readonly person?: string
  readonly payload: Readonly<Record<string, string>>
}

/** How long a rejected job can be requeued: as long as an operator may take to look. */
export const rejectedKeptMs = 90 * 24 * 3_600_000

export type JobState = 'queued' | 'leased' | 'done' | 'rejected'

export interface Delivery {
  readonly job: Job
  /** 1 the first time; more when an earlier worker let its lease run out or gave the job back. */
  readonly attempt: number
  /** Renews the lease. Rejects with `LeaseLost` once it was lost: work on the job must stop. */
  working(): Promise<void>
  /** Done: the job will not be given again. A no-op once the lease was lost. */
  ack(): Promise<void>
  /** Gives the job back, to be delivered again after `delayMs`. A no-op once the lease was lost. */
  nak(delayMs: number): Promise<void>
  /**
   * Rejects the job: it is kept for `rejectedKeptMs`, and only an operator can requeue it. The fault's type and stack are kept, but not its
   * message, which may hold a person's words. A no-op once the lease was lost.
   */
  reject(fault: unknown): Promise<void>
}

export interface Worker {
  /** Takes no more jobs. Resolves when the running ones have finished. */
  stop(): Promise<void>
}

export interface Jobs {
  /** Queues the job durably; a repeat of the id is a no-op, unless the queue has lost what it was given before. */
  put(job: Job): Promise<void>
  /**
   * Takes jobs of `kind`, at most `concurrency` at once, each with a lease of `leaseMs` that `working()` renews. A
   * `handle` that throws gives the job back after a pause; one that only returns lets the lease run out.
   */
  work(
    kind: string,
    options: { concurrency: number; leaseMs: number },
    handle: (delivery: Delivery) => Promise<void>,
  ): Worker
  /** The state of a job; `undefined` when it was never put, or was done more than 7 days ago. */
  standing(id: string): Promise<JobState | undefined>
  /** Stores how far the log was turned into jobs; lost only together with the queue. */
  mark(name: string, position: Position): Promise<void>
  /** The position stored last; `null` when there is none. */
  marked(name: string): Promise<Position | null>
  /** Jobs that are queued or leased. */
  pending(kind: string): Promise<number>
  /** Rejected jobs, newest first. */
  rejected(kind: string, limit: number): Promise<readonly { readonly job: Job; readonly reason: string }[]>
  /** Queues a rejected job again, as at its first attempt; false when there is none of that id. */
  requeue(id: string): Promise<boolean>
  ready(): Promise<void>
  /** Stops all workers without waiting for running jobs, whose calls are refused from then on. */
  close(): Promise<void>
}
