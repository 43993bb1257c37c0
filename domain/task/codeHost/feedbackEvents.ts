/**
 * Events about the reviews, comments and checks of a task's pull request, and how they were handled. The code host's names and ids are content,
 * because they identify people.
 */
import { z } from 'zod'
import { event, fact } from '../../kernel/event.schema.ts'
import { ExecutionId, MessageId, ObjectName } from '../../kernel/ids.schema.ts'

export const FeedbackId = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'A feedback id is a UUID in lower case.')

/** The result of the reviews, by the rules of the branch or, if these require no review, by the latest reviews. `required`: a review is missing. */
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

/** The result of the reviews or of the checks changed, or applies to another commit. */
export const PullRequestStandingObserved = event('PullRequestStandingObserved', 1, {
  data: z.object({
    /** `null` when no review is required and no reviewer approved or requested changes. */
    review: ReviewDecision.nullable(),
    /** The checks; `null` when the commit has no checks, or when the checks cannot be read. */
    checks: CheckCounts.nullable(),
    /** `false` when the token that reads the pull request has no permission to read its checks. */
    checksReadable: z.boolean(),
  }),
  content: z.object({ number: z.int(), headCommit: ObjectName }),
})

/** Feedback is a review with its comments, a comment on the whole pull request, or a failed check. */
export const FeedbackKind = z.enum(['review', 'comment', 'check'])
export type FeedbackKind = z.infer<typeof FeedbackKind>

/** A person's permission in the repository; `none` also if the code host reveals none. `maintain` counts as `write`, and `triage` as `read`. */
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
  /** The number of the line at the time of the comment; `null` when the comment is about the whole file. */
  line: z.int().nullable(),
  startLine: z.int().nullable(),
  isOutdated: z.boolean(),
  /** The lines of the diff to which the comment is attached. */
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
  /** The check's conclusion as the code host names it, such as `failure` or `timed_out`. */
  conclusion: z.string(),
  summary: z.string(),
  annotations: z.array(CheckAnnotation),
  /** The end of the check's log, from the step that failed; `null` when no log could be read. */
  log: z.string().nullable(),
  isLogCut: z.boolean(),
})
export type FailedCheck = z.infer<typeof FailedCheck>

/** In version 1, `writtenAt` was in `data`, which is never erased. With this time, people could find a public comment, and so its author. */
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
    /** When the feedback was written, or when the check ended, according to the code host. */
    writtenAt: z.iso.datetime(),
    /** The author; `null` for checks, and when the account no longer exists. */
    author: Author.nullable(),
    url: z.string().nullable(),
    /** The commit to which the feedback refers. */
    headCommit: ObjectName,
    /** The code host's id of the review; `null` for other kinds of feedback, and for a line comment whose review the code host does not list. */
    reviewId: z.string().nullable(),
    commentId: z.string().nullable(),
    body: z.string(),
    comments: z.array(LineComment),
    check: FailedCheck.nullable(),
  }),
})

/** The feedback was sent to the agent as a message. `automatic` is true if the project's rule sent it, and false if a person sent it. */
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
/** A person restored dismissed feedback. */
export const FeedbackRestored = fact('FeedbackRestored', { feedbackId: FeedbackId })

/**
 * A reply to the feedback is due: the work on it was published or changed nothing, or a person repeats a refused reply. Before the reply is written,
 * the code host is searched for a reply that was already written.
 */
export const FeedbackAnswerDue = event('FeedbackAnswerDue', 1, {
  data: z.object({ feedbackId: FeedbackId, executionId: ExecutionId }),
  /** The commit with the work on the feedback; `null` when the turn changed nothing that was published. */
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

/** A person asked to make the pull request a draft, or ready for review. `PullRequestObserved` records the result. */
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
