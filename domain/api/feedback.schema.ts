/** Feedback on a task's pull request: people's reviews and comments, failed checks, and how they are handled. */
import { z } from 'zod'
import { TaskId } from '../kernel/ids.schema.ts'
import {
  FailedCheck,
  FeedbackId,
  FeedbackKind,
  LineComment,
  RepositoryRight,
  ReviewVerdict,
} from '../task/codeHost/feedbackEvents.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { feedbackRoutes } from './feedback.ts'
import { Moment, required, success } from './fields.schema.ts'
import { limits } from './limits.ts'
import { Position } from '../kernel/event.schema.ts'
import { Task } from './tasks.schema.ts'

export const ShownFeedback = z.object({
  id: FeedbackId,
  kind: FeedbackKind,
  status: z.enum(['open', 'sent', 'dismissed']),
  /** The author's permission in the repository at the time when the feedback was read; `null` for checks. */
  right: RepositoryRight.nullable(),
  isKnown: z.boolean(),
  verdict: ReviewVerdict.nullable(),
  writtenAt: Moment,
  receivedAt: Moment,
  /** This field and the next six are `null` when the content was erased. */
  number: z.number().nullable(),
  author: z.object({ id: z.string(), login: z.string() }).nullable(),
  url: z.string().nullable(),
  headCommit: z.string().nullable(),
  reviewId: z.string().nullable(),
  commentId: z.string().nullable(),
  /** The text as first read; later edits are not shown. */
  body: z.string().nullable(),
  /** The comments of a review. Only the first 50 have a body and a hunk; both are empty for the others. */
  comments: z.array(LineComment),
  check: FailedCheck.nullable(),
  /** Whether the failed check was on a commit that is no longer the head. */
  isStale: z.boolean(),
  /** Whether the feedback can be sent with the proposed message: its status is not `sent`, and its content was not erased. */
  canBeSent: z.boolean(),
  messageId: z.string().nullable(),
  /** Whether the project's rule sent the feedback, rather than a person. */
  isAutomatic: z.boolean(),
  /** The state of the reply at the code host. */
  answer: z.enum(['none', 'due', 'answered', 'failed']),
  answerRefused: z.string().nullable(),
  commit: z.string().nullable(),
  isResolved: z.boolean(),
  position: Position,
  version: z.number(),
})
export type ShownFeedback = z.infer<typeof ShownFeedback>

const params = z.object({ taskId: TaskId, feedbackId: FeedbackId })
const answer = { feedback: ShownFeedback }

export const listFeedback = defineRead(feedbackRoutes.listFeedback, {
  summary: 'The latest feedback on the pull request: reviews, comments and failed checks, oldest first.',
  params: z.object({ taskId: TaskId }),
  answer: {
    feedback: z.array(ShownFeedback),
    /** Set when the list leaves out earlier feedback. A task with very much feedback may also lack what came later. */
    more: z.literal(true).exactOptional(),
    /** The revision of the task's stream up to which the list of feedback is current. */
    version: z.number(),
  },
  faults: ['not_found'],
})

export const readFeedbackMessage = defineRead(feedbackRoutes.readFeedbackMessage, {
  summary: 'The message that feedback would be sent as.',
  params,
  answer: { message: z.string() },
  faults: ['not_found'],
})

export const sendFeedback = defineWrite(feedbackRoutes.sendFeedback, {
  summary: 'Queues feedback as a message to the agent of the task.',
  params,
  body: z
    .object({
      /** The message to the agent; defaults to the message that `readFeedbackMessage` returns. */
      message: required('Enter a message.', limits.messageLength).optional(),
    })
    .optional(),
  answer: { ...answer, task: Task },
  faults: ['not_found', 'already_exists', 'queue_full', 'agent_unavailable'],
})

export const dismissFeedback = defineWrite(feedbackRoutes.dismissFeedback, {
  summary: 'Sets feedback aside. It can be restored.',
  params,
  answer,
  faults: ['not_found', 'already_exists'],
})

export const restoreFeedback = defineWrite(feedbackRoutes.restoreFeedback, {
  summary: 'Takes back that feedback was set aside.',
  params,
  answer,
  faults: ['not_found'],
})

export const resolveFeedback = defineWrite(feedbackRoutes.resolveFeedback, {
  summary: 'Resolves the threads of a review at the code host, in the name of the person.',
  params,
  answer,
  faults: ['not_found', 'code_host_refused', 'code_host_unavailable'],
})

export const answerFeedback = defineWrite(feedbackRoutes.answerFeedback, {
  summary: 'Answers feedback once more at the code host, after it took no answer.',
  params,
  answer,
  faults: [
    'not_found',
    'already_exists',
    'github_not_connected',
    'code_host_refused',
    'code_host_unavailable',
  ],
})

export const setPullRequestDraft = defineWrite(feedbackRoutes.setPullRequestDraft, {
  summary: 'Makes the pull request a draft, or ready for review, in the name of the person.',
  params: z.object({ taskId: TaskId }),
  body: z.object({ draft: z.boolean() }),
  answer: { ...success, task: Task },
  faults: [
    'not_found',
    'pull_request_merged',
    'pull_request_closed',
    'code_host_refused',
    'code_host_unavailable',
  ],
})
