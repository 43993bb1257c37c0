/**
 * The state of each job, in one record per job. Only somebody who has read the record's last revision can change the record. NATS itself accepts an
 * acknowledgement from anybody who ever had the message, so only this record decides who has the job.
 */
import { z } from 'zod'
import type { Streams } from './natsStreams.ts'

const claimed = {
  attempt: z.number().int(),
  /** The delivery count of NATS for the last claimed delivery. */
  delivered: z.number().int(),
  claim: z.string(),
}
const JobRecord = z.discriminatedUnion('state', [
  z.object({ state: z.literal('queued'), ...claimed }),
  z.object({ state: z.literal('leased'), ...claimed }),
  z.object({ state: z.literal('done'), ...claimed }),
  z.object({ state: z.literal('rejected'), ...claimed, reason: z.string() }),
])
export type JobRecord = z.output<typeof JobRecord>
export type Claimed = Pick<JobRecord, keyof typeof claimed>

export interface Read {
  readonly record: JobRecord
  readonly revision: number
}

/** The record of a job that no worker has claimed. */
export const fresh: JobRecord = { state: 'queued', attempt: 0, delivered: 0, claim: '' }

/** Reads and writes records. `timeoutMs` limits the wait for an answer. */
export interface JobRecords {
  /** The record of a job; `undefined` for a job that was never put, or whose record was not written for 7 days. */
  read(id: string, timeoutMs?: number): Promise<Read | undefined>
  /** Replaces the record that was read at `revision` (0: there was none). Returns the new revision, or `conflict` when another write came first. */
  write(id: string, record: JobRecord, revision: number, timeoutMs?: number): Promise<number | 'conflict'>
}

/** Opens the records of the jobs. `partOf` converts a job's id to a part of a subject. */
export function openJobRecords(streams: Streams, partOf: (id: string) => string): JobRecords {
  return {
    read: async (id, timeoutMs) => {
      const kept = await streams.last('standings', partOf(id), timeoutMs)
      if (kept === undefined) return undefined
      const record = JobRecord.parse(JSON.parse(Buffer.from(kept.data).toString('utf8')))
      return { record, revision: kept.sequence }
    },
    write: (id, record, revision, timeoutMs) => {
      const message = { data: JSON.stringify(record), after: revision }
      return streams.append('standings', partOf(id), message, timeoutMs)
    },
  }
}
