/** What is known of an agent before any of it runs: plain data, without a schema. */

/** What the client needs of it. */
export interface Agent {
  readonly name: string
  /** The name that people see. */
  readonly label: string
  /** Its logo: the `d` of an SVG path, drawn as a line in a box of 24 by 24. */
  readonly logo: string
  /** Whether a running turn can be given another message. */
  readonly canSteer: boolean
}

/** How an operator configures it. No part of the client. */
export interface AgentConfiguration {
  /** The name of its program. */
  readonly program: string
  /** Whose models it uses: a name of OpenTelemetry's conventions, where they have one. */
  readonly provider: string
  /** The names of its environment variables. */
  readonly variables: {
    /** The path of its program. */
    readonly program: string
    /** Its API key. */
    readonly key: string
    /** The base URL of its model's API, where the broker asks it. */
    readonly baseUrl?: { readonly name: string; readonly initial: string }
    /** Hosts that its sandbox may reach, where the agent talks to its model itself. */
    readonly hosts?: string
  }
}
