/** What a project does with the issues of its repository. Names, numbers and ids of the code host are content, as they identify people. */
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

/** An issue is to become this task. The task is made next; it is known by its id, so it is made once. */
export const ProjectIssueTaken = event('ProjectIssueTaken', 1, {
  data: z.object({
    taskId: TaskId,
    trigger: z.enum(issueTriggers),
    /** The right of who asked, as the code host said it at that time. */
    right: RepositoryRight,
  }),
  content: NamedIssue.extend({
    nodeId: z.string(),
    author: z.object({ id: z.string(), login: z.string() }),
    /** The comment that asked; `null` where it was none. */
    commentId: z.string().nullable(),
    /** SHA-256 of what the agent is to read. */
    textHash: z.string(),
  }),
})

/** What became of an issue that was taken. */
export const ProjectIssueSettled = event('ProjectIssueSettled', 1, {
  data: z.object({ taskId: TaskId, failure: z.enum(issueFailures).nullable() }),
  content: z.object({ reason: z.string().nullable() }),
})

/** Somebody with the right asked for an issue, and it is no task, or not yet. */
export const ProjectIssuePassed = event('ProjectIssuePassed', 1, {
  data: z.object({ reason: z.enum(issuePasses) }),
  content: NamedIssue,
})

/** The issues that changed up to this time of the code host were read: from then on they are read after a restart. */
export const ProjectIssuesRead = event('ProjectIssuesRead', 1, {
  data: z.object({}),
  content: z.object({ upTo: z.string() }),
})

/** The issues cannot be read, and not for a moment only. */
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
