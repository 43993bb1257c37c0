/** The types that describe an agent: its capabilities, its look on screens, and its configuration by an operator. */

/**
 * What an agent can support: planning first, asking before each change, receiving messages during a turn, MCP servers, skills and commands,
 * subagents. Tests check each capability, and they produce `docs/agents.md`.
 */
export type Capability = 'plan' | 'ask' | 'steering' | 'mcp' | 'commands' | 'subagents'

/** The facts about an agent that the client needs. */
export interface Agent {
  readonly name: string
  /** The name under which people see the agent. */
  readonly label: string
  /** The agent's logo: the `d` of an SVG path, drawn as a line in a box of 24 by 24. */
  readonly logo: string
  /** The capabilities that the agent has. Screens offer no others. */
  readonly can: readonly Capability[]
  /** Whether people can choose the agent only on servers where it is installed. */
  readonly isHiddenWhenMissing?: boolean
}

/** How an operator configures an agent. Not sent to the client. */
export interface AgentConfiguration {
  readonly program: string
  /** The provider of the agent's models, by its name in OpenTelemetry's conventions where one exists. */
  readonly provider: string
  readonly variables: {
    readonly program: string
    readonly key: string
    /** The variable for the base URL of the model's API, and its default. Only for agents whose model requests go through the broker. */
    readonly baseUrl?: { readonly name: string; readonly initial: string }
    /** The variable for the hosts that the sandbox may reach, if the agent calls its model directly. */
    readonly hosts?: string
  }
}
