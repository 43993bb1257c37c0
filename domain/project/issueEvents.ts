/** Events about the issues of a project's repository. Names, numbers and ids of the code host are content, because they identify people. */
import { z } from 'zod'
import { event, type EventOf } from '../kernel/event.schema.ts'
import { TaskId } from '../kernel/ids.schema.ts'
import { RepositoryRight } from '../task/codeHost/feedbackEvents.ts'
import { issueFailures, issuePasses, issueTriggers } from './issueRule.ts'

/** Which issues become tasks from now on. */
export const ProjectIssueRuleChanged = event('ProjectIssueRuleChanged', 1, {
  data: z.object({ on: z.boolean(), mentions: z.boolean() }),
  content: z.object({ label: z.string() }),
})

const NamedIssue = z.object({ issueId: z.string(), number: z.int(), title: z.string(), url: z.string() })

/** An issue was taken, to become this task. The task is created after this event; its id is fixed here, so it is created only once. */
export const ProjectIssueTaken = event('ProjectIssueTaken', 1, {
  data: z.object({
    taskId: TaskId,
    trigger: z.enum(issueTriggers),
    /** The permission of the person who asked, as the code host reported it at that time. */
    right: RepositoryRight,
  }),
  content: NamedIssue.extend({
    nodeId: z.string(),
    author: z.object({ id: z.string(), login: z.string() }),
    /** The comment that asked; `null` when the request was not a comment. */
    commentId: z.string().nullable(),
    /** SHA-256 of the text that the agent will read. */
    textHash: z.string(),
  }),
})

/** The outcome for a taken issue. */
export const ProjectIssueSettled = event('ProjectIssueSettled', 1, {
  data: z.object({ taskId: TaskId, failure: z.enum(issueFailures).nullable() }),
  content: z.object({ reason: z.string().nullable() }),
})

/** Somebody with the necessary permission asked for an issue, and it is not a task, or not yet. */
export const ProjectIssuePassed = event('ProjectIssuePassed', 1, {
  data: z.object({ reason: z.enum(issuePasses) }),
  content: NamedIssue,
})

/** Issues that changed up to this time, by the code host's clock, were read; after a restart, reading continues from here. */
export const ProjectIssuesRead = event('ProjectIssuesRead', 1, {
  data: z.object({}),
  content: z.object({ upTo: z.string() }),
})

/** The issues cannot be read, for a reason that does not pass quickly. */
export const ProjectIssuesUnread = event('ProjectIssuesUnread', 1, {
  data: z.object({ code: z.string() }),
  content: z.object({ reason: z.string() }),
})

export const projectIssueEvents = [
  ProjectIssueRuleChanged,
  ProjectIssueTaken,
  ProjectIssueSettled,
  ProjectIssuePassed,
  ProjectIssuesRead,
  ProjectIssuesUnread,
] as const
export type ProjectIssueEvent = EventOf<(typeof projectIssueEvents)[number]>
