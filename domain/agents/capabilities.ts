/** Which capabilities and modes an agent has. Screens offer no others. */
import { agentNamed, type AgentName } from '../agents.ts'
import type { Capability } from './agent.ts'

export const canDo = (name: AgentName, what: Capability): boolean => agentNamed(name).can.includes(what)
/** `plan`: the agent plans first and asks for approval. `free`: it works freely in the sandbox. `ask`: it asks before each change. */
export const agentModes = ['plan', 'free', 'ask'] as const
/** The modes in which the agent can be asked to work. */
export const modesOf = (name: AgentName) => agentModes.filter((mode) => mode === 'free' || canDo(name, mode))
/** The mode in which the agent works when a person chose `mode`: one that cannot plan asks instead. `undefined` when it can do neither. */
export const modeFor = (name: AgentName, mode: (typeof agentModes)[number]) =>
  ([mode, 'ask'] as const).find((one) => modesOf(name).includes(one))
