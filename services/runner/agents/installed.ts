/** Which agents can run here: finds their programs once, and decides how each reaches its model. */
import { agentNamed, agentNames, type AgentName } from '#domain/agents.ts'
import { agentConfigurations, byAgent } from '#domain/agents/configuration.ts'
import type { KeyProvider } from '#domain/agentKeys.ts'
import type { AgentModel, AgentState } from '#domain/api/server.schema.ts'
import type { AgentConfig, AgentsConfig } from '#platform/config/agents.ts'
import { isPrivateNumeric, useOf, type StoredKey } from '#platform/credentials/modelKeys.ts'
import type { Model } from '../model/broker.ts'
import { modelApis } from '../model/apis.ts'
import type { Located } from './locate.ts'
import type { Agent } from './port.ts'
import { agents } from './registry.ts'
import type { ReportedModels } from './reportedModels.ts'

/** The part that answers an agent's calls to its model. */
export type AgentBackend =
  /** A real or scripted model behind the broker. */
  | { readonly kind: 'broker'; readonly model: Model }
  /** The agent itself calls its model, with this key. */
  | { readonly kind: 'key'; readonly apiKey: string }
  /** No model can answer: `why` says in a sentence what is missing. */
  | { readonly kind: 'missing'; readonly why: string }

export interface InstalledAgents {
  /** Where the agent's program is. The first calls wait until the program has printed its version. */
  located(name: AgentName): Promise<Located>
  backend(name: AgentName): AgentBackend
  /** The backend that calls the model with a key of a person or a project; `undefined` for an agent that calls its model itself. */
  withKey(name: AgentName, key: StoredKey): Extract<AgentBackend, { kind: 'broker' }> | undefined
  /** The models that the agent last reported, or otherwise those known in advance. */
  models(name: AgentName): readonly AgentModel[]
  /** Stores the models that an agent reported, in place of its earlier ones. */
  readonly report: ReportedModels['report']
  /** The configured keys, each with a name for people. */
  readonly secrets: readonly { readonly name: string; readonly value: string }[]
  /** The state of each agent as people see it; empty until every program has been searched for. */
  told(): readonly AgentState[]
}

/** Starts to search for the programs. */
export function installedAgents(
  {
    agents: configs,
    path,
    environment,
  }: {
    readonly agents: AgentsConfig
    readonly path: string
    readonly environment: Readonly<Record<string, string | undefined>>
  },
  reported: ReportedModels,
): InstalledAgents {
  const home = environment['HOME']
  const found = byAgent((name) => agents[name].locate({ configured: configs[name].program, path, home }))
  const backends = byAgent((name) => backendOf(agents[name], configs[name]))
  const models = (name: AgentName) => reported.of(name) ?? agents[name].models
  let told: readonly Omit<AgentState, 'models'>[] = []
  Promise.all(agentNames.map(async (name) => agentState(name, await found[name], backends[name]))).then(
    (states) => (told = states),
    // No search rejects, so this is never called.
    () => undefined,
  )
  return {
    located: (name) => found[name],
    backend: (name) => backends[name],
    withKey: (name, key) => withKey(agents[name], configs[name], key),
    secrets: agentNames.flatMap((name) => secretOf(agents[name], configs[name])),
    models,
    report: reported.report,
    told: () => told.map((state) => ({ ...state, models: [...models(state.name)] })),
  }
}

function backendOf(
  { name, access }: Pick<Agent, 'name' | 'access'>,
  { apiKey, baseUrl = '' }: Pick<AgentConfig, 'apiKey' | 'baseUrl'>,
): AgentBackend {
  if (apiKey !== undefined)
    return access.kind === 'key'
      ? { kind: 'key', apiKey }
      : { kind: 'broker', model: { kind: 'http', api: access.api, apiKey, baseUrl } }
  if (access.kind !== 'key' && access.scripted !== false && modelApis[access.api].scripted !== undefined)
    return { kind: 'broker', model: { kind: 'scripted', api: access.api } }
  const own =
    ownKeyOf(access) === undefined ? '' : ' Or add a key of your own under Settings, Agents and Keys.'
  const why = `No API key is set for ${name}. Set ${agentConfigurations[name].variables.key} on the server.${own}`
  return { kind: 'missing', why }
}

/** The provider whose keys people and projects may bring for an agent; `undefined` when they may bring none. */
export const ownKeyOf = (access: Agent['access']): KeyProvider | undefined =>
  access.kind === 'key' ? undefined : modelApis[access.api].provider

function withKey(
  { access }: Pick<Agent, 'access'>,
  { baseUrl = '' }: Pick<AgentConfig, 'baseUrl'>,
  key: StoredKey,
): ReturnType<InstalledAgents['withKey']> {
  if (access.kind === 'key') return undefined
  const model = {
    kind: 'http',
    api: access.api,
    apiKey: key.value,
    use: useOf(key),
    baseUrl: key.baseUrl ?? baseUrl,
    isForeign: key.baseUrl !== null && !isPrivateNumeric(key.baseUrl),
  } as const
  return { kind: 'broker', model }
}

function secretOf({ name, access }: Agent, { apiKey }: AgentConfig): InstalledAgents['secrets'] {
  if (apiKey === undefined) return []
  return [{ name: access.kind === 'key' ? `the key of ${name}` : "the model's key", value: apiKey }]
}

/** For each agent that runs with the scripted model, a sentence that says how to get a real model. */
export function scriptedNotices({ backend }: Pick<InstalledAgents, 'backend'>): readonly string[] {
  return agentNames.flatMap((name) => {
    const behind = backend(name)
    if (behind.kind !== 'broker' || behind.model.kind !== 'scripted') return []
    const { label } = agentNamed(name)
    const { variables } = agentConfigurations[name]
    return [
      `No model key is set, so a built-in scripted model stands in for ${label} and makes one small change. Set ${variables.key} on the server, or a key of your own under Settings, to use a real model. Commands work without a key.`,
    ]
  })
}

function agentState(name: AgentName, located: Located, backend: AgentBackend): Omit<AgentState, 'models'> {
  const { access } = agents[name]
  const ownKey = ownKeyOf(access)
  const known = {
    name,
    keyInSandbox: access.kind === 'key',
    ...(ownKey !== undefined && { ownKey }),
  }
  if (!located.found) return { ...known, installed: false, version: null, missing: located.reason }
  const missing = backend.kind === 'missing' ? backend.why : null
  return { ...known, installed: true, version: located.version, missing }
}
