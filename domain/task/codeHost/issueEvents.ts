/** Events of a task that was made from an issue, and of the comment about it there. Ids and names of the code host are content. */
import { z } from 'zod'
import { event, fact } from '../../kernel/event.schema.ts'
import { issueTriggers } from '../../project/issueRule.ts'
import { RepositoryRight } from './feedbackEvents.ts'

/** The task was made from an issue by the project's rule; records who asked, and their permission at that time. A comment on the issue is due. */
export const TaskCreatedFromIssue = event('TaskCreatedFromIssue', 1, {
  data: z.object({ trigger: z.enum(issueTriggers), right: RepositoryRight }),
  content: z.object({
    repositoryId: z.string(),
    issueId: z.string(),
    number: z.int(),
    url: z.string(),
    title: z.string(),
    author: z.object({ id: z.string(), login: z.string() }),
    /** The comment that asked; `null` when the request was not a comment. */
    commentId: z.string().nullable(),
    /** SHA-256 of the text of the issue and of the comment, as the agent got it. */
    textHash: z.string(),
  }),
})
/** The comment that links to the task: on the issue, or on the pull request of a task without one. For the code host, both are issue comments. */
export const IssueCommented = event('IssueCommented', 1, {
  data: z.object({}),
  content: z.object({ commentId: z.string() }),
})
/** The comment shows the progress up to this revision of the task's stream. */
export const IssueCommentUpdated = fact('IssueCommentUpdated', { shows: z.int() })
/** The code host refused the comment. */
export const IssueCommentFailed = event('IssueCommentFailed', 1, {
  data: z.object({ code: z.string() }),
  content: z.object({ reason: z.string() }),
})

export const issueEvents = [
  TaskCreatedFromIssue,
  IssueCommented,
  IssueCommentUpdated,
  IssueCommentFailed,
] as const
