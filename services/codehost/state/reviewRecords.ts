/** Reviews and comments on pull requests and issues in the state. `number` is the number of the pull request or issue in its repository. */
import { z } from 'zod'

const Time = z.iso.datetime()
const Sha = z.string().regex(/^[0-9a-f]{40,64}$/)

/** The fields that all reviews and comments have. */
const said = {
  id: z.int().positive(),
  repositoryId: z.int().positive(),
  number: z.int().positive(),
  author: z.string(),
  /** The App whose token the text was written with; `null` when it was written on a page. */
  viaApp: z.int().positive().nullable(),
  body: z.string(),
  createdAt: Time,
  updatedAt: Time,
  /** When somebody last changed the text; `null` when nobody did. */
  editedAt: Time.nullable(),
}

/** A comment on a pull request as a whole, or on an issue. */
export const IssueComment = z.object({
  ...said,
  /** Who last changed the text; `null` when nobody did, or when it is unknown. */
  editedBy: z.string().nullable().default(null),
})

/** A review of a pull request as a whole. */
export const Review = z.object({
  ...said,
  state: z.enum(['APPROVED', 'CHANGES_REQUESTED', 'COMMENTED', 'DISMISSED']),
  /** The head commit that was reviewed. */
  commitId: Sha,
})

/** A comment on lines of a diff. Line numbers are those of the file at `commitId`, or at `baseId` on the left side. */
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
  /** The commit at which the branch had forked from its base when the comment was written. */
  baseId: Sha,
  /** The diff from the header of the hunk to the commented line. */
  diffHunk: z.string(),
})

/** A thread: comments on the same lines that answer each other. */
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

/** The longest text that GitHub accepts. */
export const mostCharacters = 65_536
/** The most texts of each kind on one pull request or issue. */
export const mostTexts = 2_000
