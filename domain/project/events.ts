/** The events of a project: its repository, settings, secrets, environment and issues. */
import { z } from 'zod'
import { keyProviders } from '../agentKeys.ts'
import { event, fact, type EventOf } from '../kernel/event.schema.ts'
import { ProjectId, Sha256, UserId, TaskId } from '../kernel/ids.schema.ts'
import { feedbackModes } from '../task/codeHost/feedbackRule.ts'
import { RepositoryRight } from '../task/codeHost/feedbackEvents.ts'
import { McpServer } from '../mcp/mcpServers.ts'
import { projectEnvironmentEvents } from './environmentEvents.ts'
import { issueFailures, issuePasses, issueTriggers } from './issueRule.ts'

// Names, numbers and ids of issues at the code host are content, because they identify people.
/** The rule by which issues become tasks has changed. */
export const ProjectIssueRuleChanged = event('ProjectIssueRuleChanged', 1, {
  data: z.object({ on: z.boolean(), mentions: z.boolean() }),
  content: z.object({ label: z.string() }),
})

const NamedIssue = z.object({ issueId: z.string(), number: z.int(), title: z.string(), url: z.string() })

/** An issue was accepted. The task is created after this event, with the id `taskId`, so that it is created only once. */
export const ProjectIssueTaken = event('ProjectIssueTaken', 1, {
  data: z.object({
    taskId: TaskId,
    trigger: z.enum(issueTriggers),
    /** The permission of the person who requested the task, as the code host reported it at that time. */
    right: RepositoryRight,
  }),
  content: NamedIssue.extend({
    nodeId: z.string(),
    author: z.object({ id: z.string(), login: z.string() }),
    /** The comment that requested the task; `null` when the request was not a comment. */
    commentId: z.string().nullable(),
    /** The SHA-256 of the issue's text, as the agent will read it. */
    textHash: z.string(),
  }),
})

/** An accepted issue became a task, or failed to become one. */
export const ProjectIssueSettled = event('ProjectIssueSettled', 1, {
  data: z.object({ taskId: TaskId, failure: z.enum(issueFailures).nullable() }),
  content: z.object({ reason: z.string().nullable() }),
})

/** An issue did not become a task, or not yet, although somebody with the necessary permission requested a task, or may have requested one. */
export const ProjectIssuePassed = event('ProjectIssuePassed', 1, {
  data: z.object({ reason: z.enum(issuePasses) }),
  content: NamedIssue,
})

/** All issues that changed until `upTo`, a time of the code host's clock, were read. After a restart, reading continues from this time. */
export const ProjectIssuesRead = event('ProjectIssuesRead', 1, {
  data: z.object({}),
  content: z.object({ upTo: z.string() }),
})

/** The issues of the project's repository cannot be read, for a reason that does not pass quickly. */
export const ProjectIssuesUnread = event('ProjectIssuesUnread', 1, {
  data: z.object({ code: z.string() }),
  content: z.object({ reason: z.string() }),
})

const projectIssueEvents = [
  ProjectIssueRuleChanged,
  ProjectIssueTaken,
  ProjectIssueSettled,
  ProjectIssuePassed,
  ProjectIssuesRead,
  ProjectIssuesUnread,
] as const
export type ProjectIssueEvent = EventOf<(typeof projectIssueEvents)[number]>

/** A repository as the code host describes it. */
export const RepositoryFacts = z.object({
  githubUrl: z.string(),
  githubOwner: z.string(),
  githubRepoName: z.string(),
  defaultBranch: z.string(),
  language: z.string().nullable(),
})
export type RepositoryFacts = z.infer<typeof RepositoryFacts>

export const ProjectCreated = event('ProjectCreated', 1, {
  data: z.object({ projectId: ProjectId, ownerId: UserId, isPrivate: z.boolean() }),
  content: RepositoryFacts.extend({ githubRepoId: z.string(), name: z.string(), description: z.string() }),
})
export const ProjectUpdated = event('ProjectUpdated', 1, {
  data: z.object({}),
  content: z.object({ name: z.string(), description: z.string() }),
})
/** Reading the repository from the code host began. An event with the outcome follows, unless the server crashed. */
export const ProjectSyncStarted = fact('ProjectSyncStarted', {})
/** The repository was read from the code host. */
export const ProjectSynced = event('ProjectSynced', 1, {
  data: z.object({ isPrivate: z.boolean() }),
  content: RepositoryFacts,
})
/** The sync failed: for example, the code host could not be reached, no longer shows the repository, or has archived it. */
export const ProjectSyncFailed = event('ProjectSyncFailed', 1, {
  data: z.object({ code: z.string() }),
  content: z.object({ reason: z.string() }),
})
/** The setup command, the variables, the host list or `modelFetches` changed; the event has all four. */
export const ProjectSettingsChanged = event('ProjectSettingsChanged', 1, {
  data: z.object({}),
  content: z.object({
    setupCommand: z.string(),
    variables: z.array(z.object({ name: z.string(), value: z.string() })),
    egress: z.array(z.string()),
    modelFetches: z.boolean(),
  }),
})
/** The list of clean filters that need not run has changed; the event has the whole list. */
export const ProjectFiltersAllowed = event('ProjectFiltersAllowed', 1, {
  data: z.object({}),
  content: z.object({ filters: z.array(z.string()) }),
})
/** Somebody chose whether the first turn that changes something opens a draft pull request. */
export const ProjectDraftsChanged = fact('ProjectDraftsChanged', { on: z.boolean() })
/** The list of submodules that are fetched with a person's permissions has changed; the event has all of them, as `owner/name`. */
export const ProjectSubmodulesChosen = event('ProjectSubmodulesChosen', 1, {
  data: z.object({}),
  content: z.object({ repositories: z.array(z.string()) }),
})
/** Somebody allowed the hooks in one version of `.claude/settings.json`, given by its SHA-256. The hooks of other versions are no longer allowed. */
export const ProjectHooksAllowed = fact('ProjectHooksAllowed', { hash: Sha256 })
export const ProjectHooksForbidden = fact('ProjectHooksForbidden', {})
/** The MCP servers of the project's agents changed; the event has all of them. */
export const ProjectMcpServersChosen = event('ProjectMcpServersChosen', 1, {
  data: z.object({}),
  content: z.object({ servers: z.array(McpServer) }),
})
/** The services that run beside the project's agents changed; the event has all of them. */
export const ProjectServicesChosen = event('ProjectServicesChosen', 1, {
  data: z.object({}),
  content: z.object({
    services: z.array(z.object({ name: z.string(), command: z.string(), readyPort: z.int().nullable() })),
  }),
})
/** A secret was set. The value is in the vault only, never in an event. */
export const ProjectSecretSet = event('ProjectSecretSet', 1, {
  data: z.object({ forAgent: z.boolean() }),
  content: z.object({ name: z.string() }),
})
export const ProjectSecretRemoved = event('ProjectSecretRemoved', 1, {
  data: z.object({}),
  content: z.object({ name: z.string() }),
})
/**
 * The project's own key for a provider of models was set. Requests with the key go to `baseUrl`; `null` means the provider's own address. The key is
 * in the vault only, never in an event.
 */
export const ProjectModelKeySet = event('ProjectModelKeySet', 1, {
  data: z.object({ provider: z.enum(keyProviders), checked: z.boolean() }),
  content: z.object({ ending: z.string().max(4), baseUrl: z.string().nullable() }),
})
export const ProjectModelKeyRemoved = fact('ProjectModelKeyRemoved', { provider: z.enum(keyProviders) })
/** The rule for feedback on the project's pull requests has changed. */
export const ProjectFeedbackRuleChanged = fact('ProjectFeedbackRuleChanged', {
  reviews: z.enum(feedbackModes),
  checks: z.enum(feedbackModes),
  triesPerCommit: z.int().nonnegative(),
  triesPerDay: z.int().nonnegative(),
  resolves: z.boolean(),
})
export const ProjectDeleted = fact('ProjectDeleted', {})

export const projectEvents = [
  ProjectCreated,
  ProjectUpdated,
  ProjectSyncStarted,
  ProjectSynced,
  ProjectSyncFailed,
  ProjectSettingsChanged,
  ProjectFiltersAllowed,
  ProjectDraftsChanged,
  ProjectSubmodulesChosen,
  ProjectHooksAllowed,
  ProjectHooksForbidden,
  ProjectSecretSet,
  ProjectSecretRemoved,
  ProjectModelKeySet,
  ProjectModelKeyRemoved,
  ProjectFeedbackRuleChanged,
  ProjectMcpServersChosen,
  ProjectServicesChosen,
  ...projectIssueEvents,
  ...projectEnvironmentEvents,
  ProjectDeleted,
] as const
export type ProjectEvent = EventOf<(typeof projectEvents)[number]>
