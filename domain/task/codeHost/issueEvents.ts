/** A task that was made of an issue, and what the issue is told of it. Ids and names of the code host are content. */
import { z } from 'zod'
import { event, none } from '../../kernel/event.schema.ts'
import { issueTriggers } from '../../project/issueRule.ts'
import { RepositoryRight } from './feedbackEvents.ts'

/** The task was made of an issue, by the project's rule: who asked, with what right at that time. The issue is to be told. */
export const TaskCreatedFromIssue = event('TaskCreatedFromIssue', 1, {
  data: z.object({ trigger: z.enum(issueTriggers), right: RepositoryRight }),
  content: z.object({
    repositoryId: z.string(),
    issueId: z.string(),
    number: z.int(),
    url: z.string(),
    title: z.string(),
    author: z.object({ id: z.string(), login: z.string() }),
    /** The comment that asked; `null` where it was none. */
    commentId: z.string().nullable(),
    /** SHA-256 of the words of the issue, and of the comment, as the agent was given them. */
    textHash: z.string(),
  }),
})
/** The comment that leads to the task: on the issue, or on the pull request of a task that was made of none. For the code host both are one kind. */
export const IssueCommented = event('IssueCommented', 1, {
  data: z.object({}),
  content: z.object({ commentId: z.string() }),
})
/** The comment says how far the task is, as of this revision of its stream. */
export const IssueCommentUpdated = event('IssueCommentUpdated', 1, {
  data: z.object({ shows: z.int() }),
  content: none,
})
/** The code host took no comment. */
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
