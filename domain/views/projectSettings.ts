/** The settings of projects: one document for each project whose settings were ever changed. */
import type { ShownSettings } from '../api/projectSettings.schema.ts'
import type { RecordedOf } from '../kernel/event.ts'
import { defaultRule, type FeedbackRule } from '../task/codeHost/feedbackRule.ts'
import type { ProjectIssueEvent } from '../project/events.ts'
import { defaultIssueRule, issueLimits, type IssueRule } from '../project/issueRule.ts'
import { noSettings, type ProjectSettings } from '../project/settings.ts'
import { ownDocument, type View, type ViewDocument } from './view.ts'

export interface ProjectSettingsDocument extends ViewDocument, Omit<ProjectSettings, 'services'> {
  /** Missing until services were chosen. */
  readonly services?: ProjectSettings['services']
  readonly secrets: ShownSettings['secrets']
  /** Missing until a model key was set. */
  readonly modelKeys?: ShownSettings['modelKeys']
  /** Missing until the rule for feedback was changed. */
  readonly feedback?: FeedbackRule
  readonly issues?: IssueRule
  readonly issueDecisions?: readonly KeptDecision[]
  readonly issuesUnread?: ShownSettings['issuesUnread']
}

type Decision = ShownSettings['issueDecisions'][number]
interface KeptDecision extends Decision {
  readonly issueId: string
}

const changing = [
  'ProjectSettingsChanged',
  'ProjectFiltersAllowed',
  'ProjectDraftsChanged',
  'ProjectSubmodulesChosen',
  'ProjectServicesChosen',
  'ProjectHooksAllowed',
  'ProjectHooksForbidden',
  'ProjectSecretSet',
  'ProjectSecretRemoved',
  'ProjectModelKeySet',
  'ProjectModelKeyRemoved',
  'ProjectFeedbackRuleChanged',
  'ProjectIssueRuleChanged',
  'ProjectIssueTaken',
  'ProjectIssueSettled',
  'ProjectIssuePassed',
  'ProjectIssuesRead',
  'ProjectIssuesUnread',
  'ProjectDeleted',
] as const

const { services: _missing, ...settingsAtFirst } = noSettings

export const projectSettingsView: View<ProjectSettingsDocument> = {
  collection: 'projectSettings',
  version: 1,
  streams: ['project'],
  types: changing,
  indexes: [],
  touches: ownDocument('project', changing),
  evolve: (document, event, id) => {
    const before: Omit<ProjectSettingsDocument, 'version'> = document ?? {
      id,
      position: event.position,
      ...settingsAtFirst,
      secrets: [],
    }
    const seen = { ...before, version: event.revision }
    switch (event.type) {
      case 'ProjectSettingsChanged':
        return { ...seen, ...event.content }
      case 'ProjectFiltersAllowed':
        return { ...seen, allowedFilters: event.content?.filters ?? [] }
      case 'ProjectDraftsChanged':
        return { ...seen, draftPullRequests: event.data.on }
      case 'ProjectSubmodulesChosen':
        return { ...seen, submodules: event.content?.repositories ?? [] }
      case 'ProjectServicesChosen':
        return { ...seen, services: event.content?.services ?? [] }
      case 'ProjectHooksAllowed':
        return { ...seen, allowedHooks: { hash: event.data.hash, since: event.at } }
      case 'ProjectHooksForbidden':
        return { ...seen, allowedHooks: null }
      case 'ProjectSecretSet': {
        if (event.content === null) return seen
        const set = { name: event.content.name, forAgent: event.data.forAgent, updatedAt: event.at }
        return { ...seen, secrets: [...without(seen.secrets, set.name), set].toSorted(byName) }
      }
      case 'ProjectSecretRemoved':
        return { ...seen, secrets: without(seen.secrets, event.content?.name) }
      case 'ProjectModelKeySet': {
        const { ending = '', baseUrl = null } = event.content ?? {}
        const set = { ...event.data, ending, baseUrl, setAt: event.at }
        return { ...seen, modelKeys: [...withoutKey(before, set.provider), set] }
      }
      case 'ProjectModelKeyRemoved':
        return { ...seen, modelKeys: withoutKey(before, event.data.provider) }
      case 'ProjectFeedbackRuleChanged':
        return { ...seen, feedback: event.data }
      case 'ProjectIssueRuleChanged': {
        const label = event.content?.label ?? seen.issues?.label ?? defaultIssueRule.label
        const unread = event.data.on ? (seen.issuesUnread ?? null) : null
        return { ...seen, issues: { ...event.data, label }, issuesUnread: unread }
      }
      case 'ProjectIssuesRead':
        return { ...seen, issuesUnread: null }
      case 'ProjectIssuesUnread':
        return { ...seen, issuesUnread: { reason: event.content?.reason ?? '', since: event.at } }
      case 'ProjectIssueTaken':
      case 'ProjectIssueSettled':
      case 'ProjectIssuePassed':
        return { ...seen, issueDecisions: decisionsAfter(seen.issueDecisions ?? [], event) }
      case 'ProjectDeleted':
        return undefined
      default:
        return document
    }
  },
}

type DecisionEvent = Extract<
  RecordedOf<ProjectIssueEvent>,
  { type: 'ProjectIssueTaken' | 'ProjectIssueSettled' | 'ProjectIssuePassed' }
>

/** The latest decisions after the event: one per issue, oldest first. */
function decisionsAfter(before: readonly KeptDecision[], event: DecisionEvent): readonly KeptDecision[] {
  if (event.type === 'ProjectIssueSettled') {
    const { taskId, failure } = event.data
    const reason = event.content?.reason ?? null
    return before.map((one) => (one.taskId === taskId ? { ...one, outcome: failure ?? 'made', reason } : one))
  }
  if (event.content === null) return before
  const { issueId, number, title, url } = event.content
  const named = { issueId, number, title, url, at: event.at, reason: null }
  const decision: KeptDecision =
    event.type === 'ProjectIssueTaken'
      ? {
          ...named,
          taskId: event.data.taskId,
          trigger: event.data.trigger,
          author: event.content.author.login,
          outcome: 'waiting',
        }
      : { ...named, taskId: null, trigger: null, author: null, outcome: event.data.reason }
  return [...before.filter((one) => one.issueId !== issueId), decision].slice(-issueLimits.decisions)
}

export function settingsOf(document: ProjectSettingsDocument | undefined): ShownSettings {
  const known = { ...noSettings, ...document }
  const { setupCommand, variables, egress, modelFetches, allowedFilters, draftPullRequests, submodules } =
    known
  return {
    setupCommand,
    variables: [...variables],
    secrets: document?.secrets ?? [],
    modelKeys: document?.modelKeys ?? [],
    egress: [...egress],
    modelFetches,
    allowedFilters: [...allowedFilters],
    draftPullRequests,
    submodules: [...submodules],
    allowedHooks: known.allowedHooks,
    services: known.services.map((service) => ({ ...service })),
    feedback: document?.feedback ?? defaultRule,
    issues: document?.issues ?? defaultIssueRule,
    issueDecisions: (document?.issueDecisions ?? [])
      .map(({ issueId: _issueId, ...shown }) => shown)
      .toReversed(),
    issuesUnread: document?.issuesUnread ?? null,
  }
}

type Secrets = ShownSettings['secrets']

const byName = (one: Secrets[number], other: Secrets[number]): number => (one.name < other.name ? -1 : 1)

const withoutKey = (
  { modelKeys = [] }: Pick<ProjectSettingsDocument, 'modelKeys'>,
  provider: string,
): ShownSettings['modelKeys'] => modelKeys.filter((known) => known.provider !== provider)

function without(secrets: Secrets, name: string | undefined): Secrets {
  return secrets.filter((secret) => secret.name !== name)
}
