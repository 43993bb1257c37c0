/** Which agents can run here: their programs, looked for once, and the keys of those that take theirs into the box. */
import type { AgentState } from '#domain/api/server.schema.ts'
import { agentNames as names, type AgentName } from '#domain/agents.ts'
import type { Config } from '#platform/config/config.ts'
import { agents } from './registry.ts'
import { locateClaude, locateCursor, type Located } from './locate.ts'

export interface InstalledAgents {
  /** The agent's program; the first who ask wait for it to say its version. */
  located(name: AgentName): Promise<Located>
  /** By name, where there is one. */
  readonly keys: Readonly<Partial<Record<AgentName, string>>>
  /** What people are told of each agent; empty until every program has been looked for. */
  told(): readonly AgentState[]
}

type Wanted = Pick<Config, 'claudeBin' | 'cursor' | 'path' | 'environment'>

/** Begins to look for the programs. */
export function installedAgents({ claudeBin, cursor, path, environment }: Wanted): InstalledAgents {
  const home = environment['HOME']
  const found: Readonly<Record<AgentName, Promise<Located>>> = {
    claude: locateClaude({ configured: claudeBin, path }),
    cursor: locateCursor({ configured: cursor.bin, path, home }),
  }
  const keys = cursor.apiKey === undefined ? {} : { cursor: cursor.apiKey }
  let told: readonly AgentState[] = []
  Promise.all(names.map(async (name) => agentState(name, await found[name], keys))).then(
    (states) => (told = states),
    // Neither search throws; what is not known is not told.
    () => undefined,
  )
  return { located: (name) => found[name], keys, told: () => told }
}

/** What is to be told of an agent, by its program and its key. */
export function agentState(
  name: AgentName,
  located: Located,
  keys: Readonly<Partial<Record<AgentName, string>>>,
): AgentState {
  const { access, models } = agents[name]
  const keyInBox = access === 'key'
  if (!located.found)
    return { name, installed: false, version: null, missing: located.reason, keyInBox, models: [...models] }
  const missing =
    keyInBox && keys[name] === undefined
      ? `No API key is set for ${name}. Set ${name.toUpperCase()}_API_KEY on the server.`
      : null
  return { name, installed: true, version: located.version, missing, keyInBox, models: [...models] }
}
