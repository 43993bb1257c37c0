/** Seals over the whole log: signed tree heads, as `docs/log-format.md` writes them down. */
import { z } from 'zod'
import { event, none, type EventOf } from './kernel/event.schema.ts'
import { KeyId, Sha256, Signature } from './kernel/ids.schema.ts'

/** The log was sealed: its first `size` events have this root, and its streams ended there as `heads` says. */
export const LogSealed = event('LogSealed', 1, {
  data: z.object({
    epoch: z.int().positive(),
    /** Events under the seal; the seal itself is under the next one. */
    size: z.int().positive(),
    root: Sha256,
    /** Of the checkpoint. */
    signature: Signature,
    /** The tree over the last event of each stream, in the order in which the streams began. */
    heads: z.object({ streams: z.int().positive(), root: Sha256, signature: Signature }),
    /** The id of the key that signed, in hex, under the name of the log. */
    keyId: KeyId,
  }),
  content: none,
})

export const sealEvents = [LogSealed] as const
export type SealEvent = EventOf<(typeof sealEvents)[number]>
export type Seal = z.infer<typeof LogSealed.data>
