/**
 * Events about reviews, comments and checks of a task's pull request: their status, their text, and how they were handled. Names and ids of the code
 * host are content, because they identify people.
 */
import { z } from 'zod'
import { event, fact } from '../../kernel/event.schema.ts'
import { ExecutionId, MessageId, ObjectName } from '../../kernel/ids.schema.ts'

export const FeedbackId = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'A feedback id is a UUID in lower case.')

/** The review status according to the branch rules. If these require no review, the latest reviews decide; `required` while a review is missing. */
export const ReviewDecision = z.enum(['approved', 'changes_requested', 'required'])
export type ReviewDecision = z.infer<typeof ReviewDecision>

/** The checks of one commit: their combined result, and how many passed, failed or are pending. */
export const CheckCounts = z.object({
  state: z.enum(['passing', 'failing', 'pending']),
  passing: z.int().nonnegative(),
  failing: z.int().nonnegative(),
  pending: z.int().nonnegative(),
})
export type CheckCounts = z.infer<typeof CheckCounts>

/** The result of the reviews or checks changed. */
export const PullRequestStandingObserved = event('PullRequestStandingObserved', 1, {
  data: z.object({
    /** `null` when no review is required and no reviewer approved or requested changes. */
    review: ReviewDecision.nullable(),
    /** The checks; `null` when the commit has none, or when they cannot be read. */
    checks: CheckCounts.nullable(),
    /** `false` when the token that reads the pull request has no permission to read its checks. */
    checksReadable: z.boolean(),
  }),
  content: z.object({ number: z.int(), headCommit: ObjectName }),
})

/** What feedback can be: a review with its comments, a comment on the pull request as a whole, or a failed check. */
export const FeedbackKind = z.enum(['review', 'comment', 'check'])
export type FeedbackKind = z.infer<typeof FeedbackKind>

/** The author's permission in the repository, as the code host reports it; `maintain` counts as `write`, `triage` as `read`. */
export const RepositoryRight = z.enum(['admin', 'write', 'read', 'none'])
export type RepositoryRight = z.infer<typeof RepositoryRight>

export const ReviewVerdict = z.enum(['approved', 'changes_requested', 'commented'])
export type ReviewVerdict = z.infer<typeof ReviewVerdict>

const Author = z.object({ id: z.string(), login: z.string() })

export const LineComment = z.object({
  id: z.string(),
  /** The id of the first comment in the thread, which may be this comment. */
  threadId: z.string(),
  path: z.string(),
  /** The line at the time of the comment, even if the code has changed since; `null` when the comment is about the whole file. */
  line: z.int().nullable(),
  startLine: z.int().nullable(),
  isOutdated: z.boolean(),
  /** The lines of the diff that the comment is attached to. */
  hunk: z.string(),
  body: z.string(),
})
export type LineComment = z.infer<typeof LineComment>

export const CheckAnnotation = z.object({
  path: z.string(),
  line: z.int(),
  level: z.string(),
  message: z.string(),
})
export type CheckAnnotation = z.infer<typeof CheckAnnotation>

export const FailedCheck = z.object({
  id: z.string(),
  name: z.string(),
  /** The conclusion by the code host's name, such as `failure` or `timed_out`. */
  conclusion: z.string(),
  summary: z.string(),
  annotations: z.array(CheckAnnotation),
  /** The end of the check's log, from the step that failed; `null` when no log could be read. */
  log: z.string().nullable(),
  isLogCut: z.boolean(),
})
export type FailedCheck = z.infer<typeof FailedCheck>

/** Version 1 had this time in `data`, which is never erased. The time could lead to a public comment, and so to its author. */
const TimeInData = z.looseObject({ writtenAt: z.iso.datetime() })
const Words = z.looseObject({}).nullable()

/** New feedback on the pull request, as first read. Later edits at the code host are not recorded. */
export const FeedbackReceived = event('FeedbackReceived', 2, {
  upcasts: [
    (first) => {
      const { writtenAt, ...data } = TimeInData.parse(first.data)
      const words = Words.parse(first.content)
      return { data, content: words && { ...words, writtenAt } }
    },
  ],
  data: z.object({
    feedbackId: FeedbackId,
    kind: FeedbackKind,
    /** The author's permission when the feedback was read; `null` for checks. */
    right: RepositoryRight.nullable(),
    /** Whether the author is a user of this server. */
    isKnown: z.boolean(),
    /** `null` when the feedback is not a review. */
    verdict: ReviewVerdict.nullable(),
  }),
  content: z.object({
    number: z.int(),
    /** When it was written, or when the check ended, according to the code host. */
    writtenAt: z.iso.datetime(),
    /** The author; `null` for checks. */
    author: Author.nullable(),
    url: z.string().nullable(),
    /** The commit that the feedback is about. */
    headCommit: ObjectName,
    /** The review that the feedback belongs to; `null` for other kinds. */
    reviewId: z.string().nullable(),
    commentId: z.string().nullable(),
    body: z.string(),
    comments: z.array(LineComment),
    check: FailedCheck.nullable(),
  }),
})

/** The feedback was sent to the agent as a message. `automatic`: the project's rule sent it, not a person. */
export const FeedbackSent = event('FeedbackSent', 1, {
  data: z.object({
    feedbackId: FeedbackId,
    messageId: MessageId,
    automatic: z.boolean(),
    /** The author's permission when the feedback was sent; `null` for checks. */
    right: RepositoryRight.nullable(),
  }),
  /** The author of the feedback, its ids at the code host, and its text. */
  content: z.object({ author: Author.nullable(), hostIds: z.array(z.string()), text: z.string() }),
})

/** A person decided not to send the feedback to the agent. */
export const FeedbackDismissed = fact('FeedbackDismissed', { feedbackId: FeedbackId })
/** A person took the dismissal back. */
export const FeedbackRestored = fact('FeedbackRestored', { feedbackId: FeedbackId })

/**
 * The work that the feedback requested is published, so a reply is due. Before it is written, the code host is searched for a reply that already
 * exists.
 */
export const FeedbackAnswerDue = event('FeedbackAnswerDue', 1, {
  data: z.object({ feedbackId: FeedbackId, executionId: ExecutionId }),
  /** The commit with the work; `null` when the turn changed nothing that was published. */
  content: z.object({ commit: ObjectName.nullable() }),
})
export const FeedbackAnswered = event('FeedbackAnswered', 1, {
  data: z.object({ feedbackId: FeedbackId }),
  /** The ids of the comments that make up the reply. */
  content: z.object({ replyIds: z.array(z.string()) }),
})
/** The code host refused the reply. */
export const FeedbackAnswerFailed = event('FeedbackAnswerFailed', 1, {
  data: z.object({ feedbackId: FeedbackId, code: z.string() }),
  content: z.object({ reason: z.string() }),
})
/** The threads of the feedback at the code host were resolved. */
export const FeedbackThreadsResolved = fact('FeedbackThreadsResolved', {
  feedbackId: FeedbackId,
  automatic: z.boolean(),
})

/** A person asked to turn the pull request into a draft, or to mark it as ready for review. The result is observed at the code host. */
export const PullRequestDraftRequested = fact('PullRequestDraftRequested', { draft: z.boolean() })

export const feedbackEvents = [
  PullRequestStandingObserved,
  FeedbackReceived,
  FeedbackSent,
  FeedbackDismissed,
  FeedbackRestored,
  FeedbackAnswerDue,
  FeedbackAnswered,
  FeedbackAnswerFailed,
  FeedbackThreadsResolved,
  PullRequestDraftRequested,
] as const
