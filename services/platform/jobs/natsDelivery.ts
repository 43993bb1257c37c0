/** A job on NATS that a worker has claimed. Its calls take effect only while the job's record names this claim. */
import { serialize } from '#platform/async/queue.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { nanos } from 'nats'
import { EngineUnavailable, LeaseLost } from '../ports/faults.ts'
import type { Delivery, Job } from '../ports/jobs.ts'
import { traceOf } from './faultTrace.ts'
import type { Claimed, JobRecord, JobRecords } from './natsJobRecords.ts'

/** A claimed job with its reply subject in NATS. At `deadline` (monotonic ms) the claim ends unless it is renewed. */
export interface HeldJob {
  readonly job: Job
  readonly claimed: Claimed
  /** The revision of the record after the claim was written. */
  readonly revision: number
  readonly reply: string
  readonly deadline: number
}

export interface DeliveryParts {
  readonly records: JobRecords
  /** Sends a command about a delivery to NATS, such as an acknowledgement, and waits for the confirmation. */
  tell(reply: string, word: string, timeoutMs?: number): Promise<void>
  /**
   * Like `tell`, but an unavailable NATS is not a fault: the job's record has the state already, and the next worker that gets the message repeats
   * the command.
   */
  finish(reply: string, word: string): Promise<void>
  /** Stores the job among the rejected jobs and removes it from the queue. */
  setAside(job: Job, reason: string, reply: string): Promise<void>
  /** Throws `EngineUnavailable` when the queue was closed. */
  requireOpen(): void
}

const retryPauseMs = 500
const maxCallMs = 5_000
const maxConflicts = 20
/** The maximum length of a stored reason, in UTF-16 code units. */
export const maxReasonLength = 10_000

/**
 * The command that sets a lease: NATS delivers the message again after `ms` milliseconds, or at once for 0, and a later command replaces this one.
 * The consumer's own ack wait is the same for all workers, but each worker has its own lease. The delay is a whole number of nanoseconds, because
 * NATS delivers the message at once when it cannot read the delay.
 */
export function leaseFor(ms: number): string {
  return ms > 0 ? `-NAK ${JSON.stringify({ delay: Math.ceil(nanos(ms)) })}` : '-NAK'
}

export function deliveryOf(
  parts: DeliveryParts,
  held: HeldJob,
  leaseMs: number,
  waits: Delivery['waits'],
): Delivery {
  const { records, tell, finish, setAside, requireOpen } = parts
  const { job, claimed, reply } = held
  let { revision, deadline } = held
  let hasEnded = false
  // Only one write at a time, so that our own writes do not conflict.
  const serialized = serialize()

  /**
   * Replaces the job's record with `next` if the record still names this claim. Returns false when it names another claim, or when the job has ended.
   */
  async function move(next: JobRecord, timeoutMs?: number): Promise<boolean> {
    for (let conflicts = 0; conflicts < maxConflicts; conflicts += 1) {
      requireOpen()
      const written = await records.write(job.id, next, revision, timeoutMs)
      if (written !== 'conflict') {
        revision = written
        return true
      }
      const now = await records.read(job.id, timeoutMs)
      if (now?.record.claim !== claimed.claim) return false
      // The record still has our claim, so it was our own write that changed it: only the answer to that write was lost.
      revision = now.revision
      if (now.record.state === next.state) return true
      if (now.record.state !== 'leased') return false
    }
    return false
  }

  async function renew(): Promise<void> {
    const began = performance.now()
    // The wait ends with the lease, because a later answer would be useless.
    const timeoutMs = Math.min(Math.max(deadline - began, retryPauseMs), maxCallMs)
    if (hasEnded || !(await move({ state: 'leased', ...claimed }, timeoutMs))) throw leaseLost()
    await tell(reply, leaseFor(leaseMs), timeoutMs)
    deadline = began + leaseMs
  }

  async function renewWhileHeld(): Promise<void> {
    for (;;) {
      try {
        return await renew()
      } catch (fault) {
        if (!(fault instanceof EngineUnavailable)) throw fault
        requireOpen()
        // While NATS is unavailable, nobody else gets the job, so the write is tried again. After the lease has expired, that is uncertain.
        if (performance.now() >= deadline) throw leaseLost(fault)
        await pause(retryPauseMs)
      }
    }
  }

  /** Ends the delivery. `after` runs when the record has the new state. */
  async function end(next: JobRecord, after: () => Promise<void>): Promise<void> {
    if (hasEnded) return
    const moved = await move(next)
    hasEnded = true
    if (moved) await after()
  }

  const leaseLost = (cause?: unknown): LeaseLost =>
    new LeaseLost(`The lease of job ${job.id} was lost at attempt ${claimed.attempt}.`, { cause })

  return {
    job,
    attempt: claimed.attempt,
    waits,
    working: () => serialized(renewWhileHeld),
    ack: () => serialized(() => end({ state: 'done', ...claimed }, () => finish(reply, '+ACK'))),
    nak: (delayMs) =>
      serialized(() => end({ state: 'queued', ...claimed }, () => finish(reply, leaseFor(delayMs)))),
    reject: (fault) =>
      serialized(() => {
        const kept = traceOf(fault).slice(0, maxReasonLength)
        return end({ state: 'rejected', ...claimed, reason: kept }, () => setAside(job, kept, reply))
      }),
  }
}
