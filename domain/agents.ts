/**
 * The agents that can work on tasks: the one list that the schemas, the server and the client derive theirs from. It holds no schema, so
 * that the client can import it as it is.
 */

interface Agent {
  readonly name: string
  /** The name that people see. */
  readonly label: string
  /** Its logo: the `d` of an SVG path, drawn as a line in a box of 24 by 24. */
  readonly logo: string
  /** Whether a running turn can be given another message. */
  readonly canSteer: boolean
}

export const agents = [
  {
    name: 'claude',
    label: 'Claude',
    logo: 'M12 3v18M3 12h18M5.6 5.6l12.8 12.8M18.4 5.6 5.6 18.4',
    canSteer: true,
  },
  {
    name: 'cursor',
    label: 'Cursor',
    logo: 'M12 2.5 20.5 7v10L12 21.5 3.5 17V7ZM3.5 7 12 12l8.5-5M12 12v9.5',
    canSteer: false,
  },
] as const satisfies readonly Agent[]

export type AgentName = (typeof agents)[number]['name']
export const agentNames: readonly AgentName[] = agents.map(({ name }) => name)
/** The agent of a task whose creator names none. */
export const defaultAgent: AgentName = 'claude'

export function isAgentName(value: string): value is AgentName {
  return agents.some(({ name }) => name === value)
}

export function agentNamed(name: AgentName): Agent {
  const agent = agents.find((one) => one.name === name)
  if (agent === undefined) throw new Error(`Unknown agent: ${name}`)
  return agent
}
