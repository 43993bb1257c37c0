/** What is known about an agent in advance: plain data, without a schema. */

import type { AgentMode } from '../task/questionEvents.ts'

/** The part that the client needs. */
export interface Agent {
  readonly name: string
  /** The name that people see. */
  readonly label: string
  /** Its logo: the `d` of an SVG path, drawn as a line in a box of 24 by 24. */
  readonly logo: string
  readonly canSteer: boolean
  /** How freely it can be asked to work; without them it always works freely. */
  readonly modes?: readonly AgentMode[]
}

/** How an operator configures it. Not sent to the client. */
export interface AgentConfiguration {
  readonly program: string
  /** The provider of its models: the name in OpenTelemetry's conventions, if there is one. */
  readonly provider: string
  readonly variables: {
    readonly program: string
    readonly key: string
    /** The base URL of its model's API, if the broker calls that for it. */
    readonly baseUrl?: { readonly name: string; readonly initial: string }
    /** Hosts that its sandbox may reach, if the agent calls its model directly. */
    readonly hosts?: string
  }
}
