/** The project: its state, its commands, and its decisions. */
import type { KeyProvider } from '../agentKeys.ts'
import { canonicalJson } from '../kernel/canonicalJson.ts'
import type { Decider, Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { RecordedOf } from '../kernel/event.ts'
import {
  ProjectCreated,
  ProjectDeleted,
  ProjectDraftsChanged,
  ProjectFeedbackRuleChanged,
  ProjectFiltersAllowed,
  ProjectHooksAllowed,
  ProjectHooksForbidden,
  ProjectMcpServersChosen,
  ProjectModelKeyRemoved,
  ProjectModelKeySet,
  ProjectSecretRemoved,
  ProjectSecretSet,
  ProjectServicesChosen,
  ProjectSettingsChanged,
  ProjectSubmodulesChosen,
  ProjectSyncStarted,
  ProjectSynced,
  ProjectSyncFailed,
  ProjectUpdated,
  type ProjectEvent,
  type RepositoryFacts,
} from './events.ts'
import type { McpServer } from '../mcp/mcpServers.ts'
import { defaultRule, type FeedbackRule } from '../task/codeHost/feedbackRule.ts'
import type { ProjectEnvironmentEvent } from './environmentEvents.ts'
import { isOnIssues, noIssues, onIssues, type IssueCommand, type ProjectIssues } from './issues.ts'
import { withIssues } from './issuesFold.ts'
import { noSettings, settingsLimits, type ProjectService, type ProjectSettings } from './settings.ts'

export type ProjectState =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'project'
      readonly ownerId: string
      readonly name: string
      readonly description: string
      readonly settings: ProjectSettings
      /** The secrets by name, without their values, which are in the vault. */
      readonly secrets: ReadonlyMap<string, { readonly forAgent: boolean }>
      /** The providers for which the project has a key of its own. */
      readonly modelKeys: ReadonlySet<KeyProvider>
      readonly feedback: FeedbackRule
      readonly issues: ProjectIssues
      readonly mcpServers: readonly McpServer[]
    }
  | { readonly kind: 'deleted'; readonly ownerId: string }

export type ProjectCommand =
  | {
      readonly type: 'CreateProject'
      readonly projectId: string
      readonly ownerId: string
      readonly githubRepoId: string
      readonly isPrivate: boolean
      readonly name: string
      readonly description: string
      readonly repository: RepositoryFacts
    }
  | { readonly type: 'UpdateProject'; readonly name?: string; readonly description?: string }
  | { readonly type: 'StartSync' }
  | { readonly type: 'RecordSync'; readonly isPrivate: boolean; readonly repository: RepositoryFacts }
  | { readonly type: 'RecordSyncFailure'; readonly code: string; readonly reason: string }
  | ({ readonly type: 'ChangeSettings' } & {
      readonly [
        Name in Exclude<
          keyof ProjectSettings,
          'allowedFilters' | 'allowedHooks' | 'draftPullRequests' | 'services' | 'submodules'
        >
      ]?: ProjectSettings[Name]
    })
  | { readonly type: 'AllowFilters'; readonly filters: readonly string[] }
  | { readonly type: 'ChangeDrafts'; readonly on: boolean }
  | { readonly type: 'ChooseSubmodules'; readonly repositories: readonly string[] }
  | { readonly type: 'ChooseServices'; readonly services: readonly ProjectService[] }
  /** `null` forbids the hooks again. */
  | { readonly type: 'AllowHooks'; readonly hash: string | null }
  | { readonly type: 'SetSecret'; readonly name: string; readonly forAgent: boolean }
  | { readonly type: 'RemoveSecret'; readonly name: string }
  | {
      readonly type: 'SetModelKey'
      readonly provider: KeyProvider
      readonly checked: boolean
      readonly ending: string
      readonly baseUrl: string | null
    }
  | { readonly type: 'RemoveModelKey'; readonly provider: KeyProvider }
  /** Parts of the rule that are left out stay as they are. */
  | ({ readonly type: 'ChangeFeedbackRule' } & { readonly [Name in keyof FeedbackRule]?: FeedbackRule[Name] })
  | { readonly type: 'ChooseMcpServers'; readonly servers: readonly McpServer[] }
  | IssueCommand
  | { readonly type: 'RecordEnvironment'; readonly event: ProjectEnvironmentEvent }
  | { readonly type: 'DeleteProject' }

function decide(command: ProjectCommand, state: ProjectState): Decision<ProjectEvent> {
  if (command.type === 'CreateProject') {
    if (state.kind !== 'none') return refuse('already_exists', 'This project already exists.')
    const { projectId, ownerId, githubRepoId, isPrivate, name, description, repository } = command
    return [
      ProjectCreated.of(
        { projectId, ownerId, isPrivate },
        { ...repository, githubRepoId, name, description },
      ),
    ]
  }
  if (state.kind !== 'project') return refuse('not_found', 'There is no such project.')
  if (isOnIssues(command)) return onIssues(state.issues, command)
  switch (command.type) {
    case 'UpdateProject': {
      const name = command.name ?? state.name
      const description = command.description ?? state.description
      return name === state.name && description === state.description
        ? []
        : [ProjectUpdated.of({}, { name, description })]
    }
    case 'StartSync':
      return [ProjectSyncStarted.of({})]
    case 'RecordSync':
      return [ProjectSynced.of({ isPrivate: command.isPrivate }, command.repository)]
    case 'RecordSyncFailure':
      return [ProjectSyncFailed.of({ code: command.code }, { reason: command.reason })]
    case 'ChangeSettings':
      return changeSettings(command, state)
    case 'AllowFilters': {
      const filters = [...new Set(command.filters)]
      return ifChanged(filters, state.settings.allowedFilters, ProjectFiltersAllowed.of({}, { filters }))
    }
    case 'ChangeDrafts': {
      const { on } = command
      return ifChanged(on, state.settings.draftPullRequests, ProjectDraftsChanged.of({ on }))
    }
    case 'AllowHooks': {
      const { hash } = command
      const event = hash === null ? ProjectHooksForbidden.of({}) : ProjectHooksAllowed.of({ hash })
      return ifChanged(hash, state.settings.allowedHooks?.hash ?? null, event)
    }
    case 'ChooseSubmodules': {
      const repositories = [...new Set(command.repositories)]
      const event = ProjectSubmodulesChosen.of({}, { repositories })
      return ifChanged(repositories, state.settings.submodules, event)
    }
    case 'ChooseServices': {
      const services = [...command.services]
      return ifChanged(services, state.settings.services, ProjectServicesChosen.of({}, { services }))
    }
    case 'SetSecret':
      return setSecret(command, state)
    case 'RemoveSecret':
      return state.secrets.has(command.name)
        ? [ProjectSecretRemoved.of({}, { name: command.name })]
        : refuse('not_found', 'There is no such secret.')
    case 'ChangeFeedbackRule': {
      const { type: _type, ...named } = command
      const changed = { ...state.feedback, ...named }
      return ifChanged(changed, state.feedback, ProjectFeedbackRuleChanged.of(changed))
    }
    case 'ChooseMcpServers': {
      const servers = [...command.servers]
      return ifChanged(servers, state.mcpServers, ProjectMcpServersChosen.of({}, { servers }))
    }
    case 'RecordEnvironment':
      return [command.event]
    case 'DeleteProject':
      return [ProjectDeleted.of({})]
    default:
      return onModelKey(command, state.modelKeys)
  }
}

const ifChanged = (now: unknown, before: unknown, event: ProjectEvent): readonly ProjectEvent[] =>
  canonicalJson(now) === canonicalJson(before) ? [] : [event]

type Living = Extract<ProjectState, { kind: 'project' }>

function onModelKey(
  command: Extract<ProjectCommand, { type: 'SetModelKey' | 'RemoveModelKey' }>,
  known: ReadonlySet<KeyProvider>,
): Decision<ProjectEvent> {
  const { provider } = command
  if (command.type === 'RemoveModelKey')
    return known.has(provider) ? [ProjectModelKeyRemoved.of({ provider })] : []
  const { checked, ending, baseUrl } = command
  return [ProjectModelKeySet.of({ provider, checked }, { ending, baseUrl })]
}

function setSecret(
  { name, forAgent }: Extract<ProjectCommand, { type: 'SetSecret' }>,
  state: Living,
): Decision<ProjectEvent> {
  if (state.settings.variables.some((variable) => variable.name === name))
    return refuse('invalid_input', `A variable named ${name} already exists. Remove it first.`, 'name')
  if (!state.secrets.has(name) && state.secrets.size >= settingsLimits.secrets)
    return refuse('invalid_input', `A project can have at most ${settingsLimits.secrets} secrets.`, 'name')
  return [ProjectSecretSet.of({ forAgent }, { name })]
}

function changeSettings(
  command: Extract<ProjectCommand, { type: 'ChangeSettings' }>,
  { settings, secrets }: Living,
): Decision<ProjectEvent> {
  const setupCommand = command.setupCommand ?? settings.setupCommand
  const variables = [...(command.variables ?? settings.variables)]
  const egress = [...(command.egress ?? settings.egress)]
  const modelFetches = command.modelFetches ?? settings.modelFetches
  const twice = variables.find(({ name }) => secrets.has(name))
  if (twice)
    return refuse(
      'invalid_input',
      `A secret named ${twice.name} already exists. Remove it first.`,
      'variables',
    )
  const changed = { setupCommand, variables, egress, modelFetches }
  return ifChanged({ ...settings, ...changed }, settings, ProjectSettingsChanged.of({}, changed))
}

const withSettings = (state: ProjectState, changed: Partial<ProjectSettings>): ProjectState =>
  state.kind === 'project' ? { ...state, settings: { ...state.settings, ...changed } } : state

function evolve(state: ProjectState, event: RecordedOf<ProjectEvent>): ProjectState {
  switch (event.type) {
    case 'ProjectCreated':
      return {
        kind: 'project',
        ownerId: event.data.ownerId,
        name: event.content?.name ?? '',
        description: event.content?.description ?? '',
        settings: noSettings,
        secrets: new Map(),
        modelKeys: new Set(),
        feedback: defaultRule,
        issues: noIssues,
        mcpServers: [],
      }
    case 'ProjectUpdated':
      return state.kind === 'project' && event.content !== null ? { ...state, ...event.content } : state
    case 'ProjectSettingsChanged':
      return state.kind === 'project' && event.content !== null
        ? { ...state, settings: { ...state.settings, ...event.content } }
        : state
    case 'ProjectFiltersAllowed': {
      const allowedFilters = event.content?.filters ?? []
      return state.kind === 'project' ? { ...state, settings: { ...state.settings, allowedFilters } } : state
    }
    case 'ProjectDraftsChanged':
      return withSettings(state, { draftPullRequests: event.data.on })
    case 'ProjectSubmodulesChosen':
      return withSettings(state, { submodules: event.content?.repositories ?? [] })
    case 'ProjectServicesChosen':
      return withSettings(state, { services: event.content?.services ?? [] })
    case 'ProjectHooksAllowed':
    case 'ProjectHooksForbidden': {
      const allowedHooks =
        event.type === 'ProjectHooksAllowed' ? { hash: event.data.hash, since: event.at } : null
      return state.kind === 'project' ? { ...state, settings: { ...state.settings, allowedHooks } } : state
    }
    case 'ProjectSecretSet':
      return state.kind === 'project' && event.content !== null
        ? { ...state, secrets: new Map([...state.secrets, [event.content.name, event.data]]) }
        : state
    case 'ProjectSecretRemoved': {
      const name = event.content?.name
      return state.kind === 'project'
        ? { ...state, secrets: new Map([...state.secrets].filter(([known]) => known !== name)) }
        : state
    }
    case 'ProjectModelKeySet':
      return state.kind === 'project'
        ? { ...state, modelKeys: new Set([...state.modelKeys, event.data.provider]) }
        : state
    case 'ProjectModelKeyRemoved': {
      const { provider } = event.data
      return state.kind === 'project'
        ? { ...state, modelKeys: new Set([...state.modelKeys].filter((known) => known !== provider)) }
        : state
    }
    case 'ProjectFeedbackRuleChanged':
      return state.kind === 'project' ? { ...state, feedback: event.data } : state
    case 'ProjectMcpServersChosen':
      return state.kind === 'project' ? { ...state, mcpServers: event.content?.servers ?? [] } : state
    case 'ProjectIssueRuleChanged':
    case 'ProjectIssueTaken':
    case 'ProjectIssueSettled':
    case 'ProjectIssuePassed':
    case 'ProjectIssuesRead':
    case 'ProjectIssuesUnread':
      return state.kind === 'project' ? { ...state, issues: withIssues(state.issues, event) } : state
    case 'ProjectDeleted':
      return state.kind === 'project' ? { kind: 'deleted', ownerId: state.ownerId } : state
    default:
      return state
  }
}

export const projectDecider: Decider<ProjectState, ProjectCommand, ProjectEvent> = {
  initial: { kind: 'none' },
  decide,
  evolve,
}
