/** The records of reviews and comments in the code host's state. `number` is always the number of the pull request or issue. */
import { z } from 'zod'

const Time = z.iso.datetime()
const Sha = z.string().regex(/^[0-9a-f]{40,64}$/)

/** The fields that all reviews and comments have. */
const said = {
  id: z.int().positive(),
  repositoryId: z.int().positive(),
  number: z.int().positive(),
  author: z.string(),
  /** The App whose token was used to write the text; `null` when it was written on a page. */
  viaApp: z.int().positive().nullable(),
  body: z.string(),
  createdAt: Time,
  updatedAt: Time,
  /** When somebody last changed the text; `null` when nobody changed it. */
  editedAt: Time.nullable(),
}

/** A comment on an issue or on a whole pull request. */
export const IssueComment = z.object({
  ...said,
  /** Who last changed the text; `null` when nobody changed it, and when unknown. */
  editedBy: z.string().nullable().default(null),
})

/** A review of a whole pull request. */
export const Review = z.object({
  ...said,
  state: z.enum(['APPROVED', 'CHANGES_REQUESTED', 'COMMENTED', 'DISMISSED']),
  /** The reviewed commit: the head of the pull request at that time, or an earlier commit that the reviewer named. */
  commitId: Sha,
})

/** A comment on lines of a diff. Lines are numbered as in the file at `commitId`, or at `baseId` on the left side. */
export const ReviewComment = z.object({
  ...said,
  reviewId: z.int().positive(),
  threadId: z.int().positive(),
  inReplyTo: z.int().positive().nullable(),
  path: z.string(),
  side: z.enum(['LEFT', 'RIGHT']),
  line: z.int().positive(),
  startLine: z.int().positive().nullable(),
  startSide: z.enum(['LEFT', 'RIGHT']).nullable(),
  commitId: Sha,
  /** The common ancestor of `commitId` and the base branch when the thread began. */
  baseId: Sha,
  /** The hunk of the diff up to the commented line. */
  diffHunk: z.string(),
})

/** A thread: a comment on lines and the replies to it. */
export const ReviewThread = z.object({
  id: z.int().positive(),
  repositoryId: z.int().positive(),
  number: z.int().positive(),
  resolvedBy: z.string().nullable(),
})

export type IssueComment = Readonly<z.infer<typeof IssueComment>>
export type Review = Readonly<z.infer<typeof Review>>
export type ReviewComment = Readonly<z.infer<typeof ReviewComment>>
export type ReviewThread = Readonly<z.infer<typeof ReviewThread>>

/** The maximum length of a text, as on GitHub. */
export const mostCharacters = 65_536
/** The maximum number of texts of each kind on one pull request or issue. */
export const mostTexts = 2_000
