/** The agents' configuration, read from the variables that `domain/agents` lists for each. */
import { accessSync, constants, statSync } from 'node:fs'
import { z } from 'zod'
import type { AgentName } from '#domain/agents.ts'
import { agentConfigurations, byAgent } from '#domain/agents/configuration.ts'
import type { AgentConfiguration } from '#domain/agents/agent.ts'
import { address, hosts } from './valueTypes.ts'

export interface AgentConfig {
  /** The path of the agent's program; `undefined` to search for it. */
  readonly program: string | undefined
  readonly apiKey: string | undefined
  /** The base URL of the API of the agent's model; `undefined` for an agent that has it built in. */
  readonly baseUrl: string | undefined
  /** Hosts that the agent's sandbox may reach, in addition to those that the project allows. */
  readonly hosts: readonly string[]
}
export type AgentsConfig = Readonly<Record<AgentName, AgentConfig>>

/** The texts for `--help`, by name of the variable. */
export const agentVariables: Readonly<Record<string, string>> = Object.assign(
  {},
  ...Object.entries(agentConfigurations).map(([name, configuration]) => helpOf(name, configuration)),
)

/** The names of all agents that read their key from this variable. Agents for models of the same maker share one variable. */
function withKey(key: string): string {
  const sharing = Object.entries(agentConfigurations).filter(([, { variables }]) => variables.key === key)
  return sharing.map(([name]) => `\`${name}\``).join(' and ')
}

function helpOf(name: string, { program, variables }: AgentConfiguration): Readonly<Record<string, string>> {
  const { key, baseUrl, hosts: ofSandbox } = variables
  const isBrokered = baseUrl !== undefined
  return {
    [key]: isBrokered
      ? `API key of ${withKey(key)}; the key broker keeps it out of the sandbox`
      : `API key of \`${name}\`; it is passed into the sandbox, where everything that runs can read it`,
    ...(isBrokered && {
      [baseUrl.name]: `where the key broker reaches the model of ${withKey(key)} (${baseUrl.initial})`,
    }),
    ...(ofSandbox !== undefined && {
      [ofSandbox]: `hosts that the sandbox of \`${name}\` may reach, separated by commas`,
    }),
    [variables.program]: `path of the \`${program}\` program; by default it is looked up`,
  }
}

export const agentSecrets: readonly string[] = Object.values(agentConfigurations).map(
  ({ variables }) => variables.key,
)

/** Reads the variables of all agents; faults are added to `faults`. */
export function readAgents(
  given: Readonly<Record<string, string | undefined>>,
  faults: string[],
): AgentsConfig {
  const read = <Value>(name: string | undefined, schema: z.ZodType<Value>): Value | undefined => {
    const value = name === undefined ? undefined : given[name]?.trim() || undefined
    if (value === undefined) return undefined
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    const fault = `${name}: ${parsed.error.issues[0]?.message ?? 'is not valid'}.`
    // Agents can share a variable, whose fault is reported only once.
    if (!faults.includes(fault)) faults.push(fault)
    return undefined
  }
  return byAgent((_name, { variables }) => {
    const program = read(variables.program, z.string())
    if (program !== undefined && !isProgram(program))
      faults.push(`${variables.program}: ${program} is no program that can be run.`)
    return {
      program,
      apiKey: read(variables.key, z.string()),
      baseUrl: read(variables.baseUrl?.name, address) ?? variables.baseUrl?.initial,
      hosts: read(variables.hosts, hosts) ?? [],
    }
  })
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    // Folders have the execute permission too, so the type is checked.
    return statSync(file).isFile()
  } catch {
    return false
  }
}
