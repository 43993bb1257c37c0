/** Names of what lies beside the log: hashes, and blobs by their hash. */
import { z } from 'zod'

/** SHA-256 in hex. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** A sealed blob: the SHA-256 of its sealed bytes, and its size before it was sealed, in bytes. */
export const BlobRef = z.object({ hash: Sha256, size: z.int().nonnegative() })
export type BlobRef = z.infer<typeof BlobRef>
