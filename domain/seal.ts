/** Seals over the whole log: signed tree heads, as specified in `docs/log-format.md`. */
import { z } from 'zod'
import { fact, type EventOf } from './kernel/event.schema.ts'
import { KeyId, Sha256, Signature } from './kernel/ids.schema.ts'

/** The log was sealed: `root` covers its first `size` events, and `heads` the last events of its streams at that time. */
export const LogSealed = fact('LogSealed', {
  epoch: z.int().positive(),
  /** The number of events that the seal covers. The next seal covers the event of this seal too. */
  size: z.int().positive(),
  root: Sha256,
  signature: Signature,
  /** The tree over the last events of all streams, in the order in which the streams began. */
  heads: z.object({ streams: z.int().positive(), root: Sha256, signature: Signature }),
  /** The id, in hex, of the key that signed. */
  keyId: KeyId,
})

export const sealEvents = [LogSealed] as const
export type SealEvent = EventOf<(typeof sealEvents)[number]>
export type Seal = z.infer<typeof LogSealed.data>
