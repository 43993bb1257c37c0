/** Ids, and references to blobs by their hash. */
import { z } from 'zod'

const uuid = (what: string) =>
  z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, `${what} is a UUID in lower case.`)

export const UserId = uuid('A user id')
export const ProjectId = uuid('A project id')
export const TaskId = uuid('A task id')
export const MessageId = uuid('A message id')
export const ImageId = uuid('An image id')
export const ArtifactId = uuid('An artifact id')
export const ExecutionId = uuid('An execution id')
export const QuestionId = uuid('A question id')

/** A SHA-256 hash in hex. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** An Ed25519 signature in hex. */
export const Signature = z.string().regex(/^[0-9a-f]{128}$/)

/** The id of a signing key, in hex. It is derived from the key and from the name of the log. */
export const KeyId = z.string().regex(/^[0-9a-f]{8}$/)

/** The name of a git object: SHA-1 or SHA-256 in hex. */
export const ObjectName = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/)

/** An encrypted blob: the SHA-256 of its encrypted bytes, and its size before the encryption, in bytes. */
export const BlobRef = z.object({ hash: Sha256, size: z.int().nonnegative() })
export type BlobRef = z.infer<typeof BlobRef>
