/**
 * What comes back on a task's pull request: what its reviewers and checks say of it, what people wrote on it, and what became of that. Names
 * and ids of the code host are content, as they identify people.
 */
import { z } from 'zod'
import { event, none } from '../../kernel/event.schema.ts'
import { ExecutionId, MessageId, ObjectName } from '../../kernel/ids.schema.ts'

export const FeedbackId = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'A feedback id is a UUID in lower case.')

/** Whether the branch rules are content with the reviews; `required` while one is missing. */
export const ReviewDecision = z.enum(['approved', 'changes_requested', 'required'])
export type ReviewDecision = z.infer<typeof ReviewDecision>

/** Checks of one commit: what they say together, and how many say so. */
export const CheckCounts = z.object({
  state: z.enum(['passing', 'failing', 'pending']),
  passing: z.int().nonnegative(),
  failing: z.int().nonnegative(),
  pending: z.int().nonnegative(),
})
export type CheckCounts = z.infer<typeof CheckCounts>

/** The reviews or the checks of the pull request say something new. */
export const PullRequestStandingObserved = event('PullRequestStandingObserved', 1, {
  data: z.object({
    /** `null` where no review is asked for. */
    review: ReviewDecision.nullable(),
    /** `null` where the commit has none, and where they cannot be read. */
    checks: CheckCounts.nullable(),
    /** `false` where the token that reads the pull request may not see its checks. */
    checksReadable: z.boolean(),
  }),
  content: z.object({ number: z.int(), headCommit: ObjectName }),
})

/** A review with its comments, a comment on the pull request as a whole, or a check that failed. */
export const FeedbackKind = z.enum(['review', 'comment', 'check'])
export type FeedbackKind = z.infer<typeof FeedbackKind>

/** What the author may do in the repository, as the code host says; `maintain` shows as `write`, `triage` as `read`. */
export const RepositoryRight = z.enum(['admin', 'write', 'read', 'none'])
export type RepositoryRight = z.infer<typeof RepositoryRight>

export const ReviewVerdict = z.enum(['approved', 'changes_requested', 'commented'])
export type ReviewVerdict = z.infer<typeof ReviewVerdict>

const Author = z.object({ id: z.string(), login: z.string() })

/** A comment on lines of a file. */
export const LineComment = z.object({
  id: z.string(),
  /** The first comment of its thread, where that is another. */
  threadId: z.string(),
  path: z.string(),
  /** `null` for the whole file. The line at the time of the comment, where the code has moved on since. */
  line: z.int().nullable(),
  startLine: z.int().nullable(),
  isOutdated: z.boolean(),
  /** The lines of the diff that it stands at. */
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
  /** The code host's word: `failure`, `timed_out`. */
  conclusion: z.string(),
  summary: z.string(),
  annotations: z.array(CheckAnnotation),
  /** The end of its log from the step that failed; `null` where there is none to read. */
  log: z.string().nullable(),
  isLogCut: z.boolean(),
})
export type FailedCheck = z.infer<typeof FailedCheck>

/** The time that a first version had among the facts: it finds a public comment, and so its author, also after the words are erased. */
const TimeInData = z.looseObject({ writtenAt: z.iso.datetime() })
const Words = z.looseObject({}).nullable()

/** Something new on the pull request, as it was when it was first read: later edits change nothing. */
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
    /** The author's, when it was read; `null` for checks. */
    right: RepositoryRight.nullable(),
    /** Whether the author is a user of this server. */
    isKnown: z.boolean(),
    /** `null` for what is no review. */
    verdict: ReviewVerdict.nullable(),
  }),
  content: z.object({
    number: z.int(),
    /** When it was written or when the check ended, by the code host. */
    writtenAt: z.iso.datetime(),
    /** `null` for checks. */
    author: Author.nullable(),
    url: z.string().nullable(),
    /** The commit that it is about. */
    headCommit: ObjectName,
    /** Of the review or the comment; `null` for others. */
    reviewId: z.string().nullable(),
    commentId: z.string().nullable(),
    body: z.string(),
    comments: z.array(LineComment),
    check: FailedCheck.nullable(),
  }),
})

/** It was made a message of the task. `automatic`: by the project's rule rather than by a person. */
export const FeedbackSent = event('FeedbackSent', 1, {
  data: z.object({
    feedbackId: FeedbackId,
    messageId: MessageId,
    automatic: z.boolean(),
    /** The author's right at that time; `null` for checks. */
    right: RepositoryRight.nullable(),
  }),
  /** Who asked, by what, and in which words. */
  content: z.object({ author: Author.nullable(), hostIds: z.array(z.string()), text: z.string() }),
})

/** Somebody does not want it sent to the agent. */
export const FeedbackDismissed = event('FeedbackDismissed', 1, {
  data: z.object({ feedbackId: FeedbackId }),
  content: none,
})
/** It is no longer dismissed. */
export const FeedbackRestored = event('FeedbackRestored', 1, {
  data: z.object({ feedbackId: FeedbackId }),
  content: none,
})

/** The work that was asked for is published: the code host is to be told. An answer is looked up there before it is written. */
export const FeedbackAnswerDue = event('FeedbackAnswerDue', 1, {
  data: z.object({ feedbackId: FeedbackId, executionId: ExecutionId }),
  /** `null` where the turn changed nothing that was published. */
  content: z.object({ commit: ObjectName.nullable() }),
})
export const FeedbackAnswered = event('FeedbackAnswered', 1, {
  data: z.object({ feedbackId: FeedbackId }),
  /** The comments that answer it. */
  content: z.object({ replyIds: z.array(z.string()) }),
})
/** The code host took no answer. */
export const FeedbackAnswerFailed = event('FeedbackAnswerFailed', 1, {
  data: z.object({ feedbackId: FeedbackId, code: z.string() }),
  content: z.object({ reason: z.string() }),
})
/** Its threads at the code host were resolved. */
export const FeedbackThreadsResolved = event('FeedbackThreadsResolved', 1, {
  data: z.object({ feedbackId: FeedbackId, automatic: z.boolean() }),
  content: none,
})

/** Somebody asked that the pull request become a draft, or ready for review. What the code host made of it is observed. */
export const PullRequestDraftRequested = event('PullRequestDraftRequested', 1, {
  data: z.object({ draft: z.boolean() }),
  content: none,
})

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
