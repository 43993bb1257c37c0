/**
 * A durable work queue: a job is given to one worker at a time, again when its lease runs out, and is gone once it
 * is acknowledged. Places are shared between persons: nobody has all of a worker's places at once; of those who wait, whoever has
 * the fewest is served first, and of these whoever was served longest ago, as far as the queue can tell. Held by `tests/contracts/jobs.spec.ts`.
 */

import type { Position } from '#domain/kernel/event.ts'

/** What a worker may be asked to do. The payload names things; facts are read from the log. */
export interface Job {
  /** The job's name: putting the same id twice queues it once, also when it was done less than 7 days ago. */
  readonly id: string
  readonly kind: string
  /** Whose places it takes; without it, nobody's. */
  readonly person?: string
  readonly payload: Readonly<Record<string, string>>
}

/** For so long a job that was set aside can be brought back: as long as an operator may take to look. */
export const rejectedKeptMs = 90 * 24 * 3_600_000

export type JobState = 'queued' | 'leased' | 'done' | 'rejected'

export interface Delivery {
  readonly job: Job
  /** 1 the first time; more when an earlier worker let its lease run out or gave the job back. */
  readonly attempt: number
  /** Renews the lease. Rejects with `LeaseLost` once it was lost: what is done for this job must stop. */
  working(): Promise<void>
  /** Done: the job will not be given again. A no-op once the lease was lost. */
  ack(): Promise<void>
  /** Gives the job back, to be delivered again after `delayMs`. A no-op once the lease was lost. */
  nak(delayMs: number): Promise<void>
  /**
   * Sets the job aside: it is kept for `rejectedKeptMs`, and only an operator brings it back. Of the fault is kept what it is and
   * where it arose, and none of its words, which may be a person's. A no-op once the lease was lost.
   */
  reject(fault: unknown): Promise<void>
}

export interface Worker {
  /** No more deliveries; what runs may finish. Resolves when it has. */
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
  /** Where a job stands; `undefined` when it was never put, or was done more than 7 days ago. */
  standing(id: string): Promise<JobState | undefined>
  /** Notes how far the log was turned into jobs; it is lost with the queue, and only then. */
  mark(name: string, position: Position): Promise<void>
  /** What was noted last; `null` when nothing was. */
  marked(name: string): Promise<Position | null>
  /** Jobs that are queued or leased. */
  pending(kind: string): Promise<number>
  /** Jobs set aside, newest first. */
  rejected(kind: string, limit: number): Promise<readonly { readonly job: Job; readonly reason: string }[]>
  /** Queues a job that was set aside again, as at its first attempt; false when there is none of that id. */
  requeue(id: string): Promise<boolean>
  ready(): Promise<void>
  /** Stops all workers and does not wait for what runs: every word of it is refused from then on. */
  close(): Promise<void>
}
