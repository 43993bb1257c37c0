/** What people say about pull requests and issues, as the state keeps it. `number` is the pull request's or issue's in its repository. */
import { z } from 'zod'

const Time = z.iso.datetime()
const Sha = z.string().regex(/^[0-9a-f]{40,64}$/)

/** What everything that was said has. */
const said = {
  id: z.int().positive(),
  repositoryId: z.int().positive(),
  number: z.int().positive(),
  author: z.string(),
  /** The app whose token it was said with; `null` for what was written on a page. */
  viaApp: z.int().positive().nullable(),
  body: z.string(),
  createdAt: Time,
  updatedAt: Time,
  /** When somebody last changed the text; `null` when nobody did. */
  editedAt: Time.nullable(),
}

/** A comment below a pull request or an issue. */
export const IssueComment = z.object({
  ...said,
  /** Who changed it last; `null` where nobody did, or it is not known. */
  editedBy: z.string().nullable().default(null),
})

/** What somebody thinks of a pull request as a whole. */
export const Review = z.object({
  ...said,
  state: z.enum(['APPROVED', 'CHANGES_REQUESTED', 'COMMENTED', 'DISMISSED']),
  /** The head that was reviewed. */
  commitId: Sha,
})

/** A comment on lines of a diff. Lines are those of the file at `commitId`, or at `baseId` on the left side. */
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
  /** Where the branch left its base, as it was then. */
  baseId: Sha,
  /** The diff from the head of its hunk to the line. */
  diffHunk: z.string(),
})

/** Comments on the same lines, one answering the other. */
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

/** As long as a text on GitHub may be. */
export const mostCharacters = 65_536
/** Texts of each kind below one pull request or issue. */
export const mostTexts = 2_000
