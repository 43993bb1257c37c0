/**
 * Where each job stands: one record a job, changed only by who has read its last revision. NATS itself takes an acknowledgement from
 * whoever had the message once; this record is the fence.
 */
import { z } from 'zod'
import type { Streams } from './natsStreams.ts'

const claimed = {
  /** How often the job was claimed. */
  attempt: z.number().int(),
  /** NATS's own count of the delivery that was claimed last. */
  delivered: z.number().int(),
  /** Names the last claim. */
  claim: z.string(),
}
const Standing = z.discriminatedUnion('state', [
  z.object({ state: z.literal('queued'), ...claimed }),
  z.object({ state: z.literal('leased'), ...claimed }),
  z.object({ state: z.literal('done'), ...claimed }),
  z.object({ state: z.literal('rejected'), ...claimed, reason: z.string() }),
])
export type Standing = z.output<typeof Standing>
export type Claimed = Pick<Standing, keyof typeof claimed>

/** A standing, and the revision it was read at. */
export interface Read {
  readonly standing: Standing
  readonly revision: number
}

/** The standing of a job that no worker has had. */
export const fresh: Standing = { state: 'queued', attempt: 0, delivered: 0, claim: '' }

/** `withinMs` bounds the wait for an answer. */
export interface Standings {
  /** `undefined` for a job that was never put, or is done with for 7 days. */
  read(id: string, withinMs?: number): Promise<Read | undefined>
  /** Replaces what was read at `revision` (0: nothing); the new revision, or `conflict` when another came first. */
  write(id: string, standing: Standing, revision: number, withinMs?: number): Promise<number | 'conflict'>
}

/** `partOf` makes an id a part of a subject. */
export function openStandings(streams: Streams, partOf: (id: string) => string): Standings {
  return {
    read: async (id, withinMs) => {
      const kept = await streams.last('standings', partOf(id), withinMs)
      if (kept === undefined) return undefined
      const standing = Standing.parse(JSON.parse(Buffer.from(kept.data).toString('utf8')))
      return { standing, revision: kept.sequence }
    },
    write: (id, standing, revision, withinMs) => {
      const message = { data: JSON.stringify(standing), after: revision }
      return streams.append('standings', partOf(id), message, withinMs)
    },
  }
}
