/** Names of what lies beside the log: hashes, and blobs by their hash. */
import { z } from 'zod'

const sha256 = /^[0-9a-f]{64}$/

/** SHA-256 in hex. */
export const Sha256 = z.string().regex(sha256)

/** A sealed blob: the SHA-256 of its sealed bytes, and its size before it was sealed, in bytes. */
export const BlobRef = z.object({ hash: Sha256, size: z.int().nonnegative() })
export type BlobRef = z.infer<typeof BlobRef>

/**
 * Every hash in the facts of an event, at any depth: all that may be the name of a blob, also in kinds and versions of events that are
 * not known here.
 */
export function* hashesIn(data: unknown): Generator<string> {
  if (typeof data === 'string') {
    if (sha256.test(data)) yield data
  } else if (typeof data === 'object' && data !== null) {
    for (const member of Object.values(data)) yield* hashesIn(member)
  }
}
