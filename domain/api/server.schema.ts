/** Information about the server and its agents, and the counting of page views. */
import { z } from 'zod'
import { keyProviders } from '../agentKeys.ts'
import { ProjectId } from '../kernel/ids.schema.ts'
import { AgentName } from '../task/events.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { success } from './fields.schema.ts'
import { serverRoutes } from './server.ts'

export const getNotices = defineRead(serverRoutes.getNotices, {
  summary: 'Notices shown on every page about how this server is set up.',
  answer: { notices: z.array(z.string()) },
})

export const countPageView = defineWrite(serverRoutes.countPageView, {
  summary:
    'Counts a page view by address, without recording who viewed it. Unknown addresses are counted as other.',
  open: 'anybody',
  body: z.object({
    /** The viewed page: one of `pageRoutes`. */
    route: z.string().max(200),
  }),
  answer: success,
})

export const AgentModel = z.object({
  name: z.string(),
  label: z.string(),
  /** The agent's description of the model, such as its price. */
  description: z.string().optional(),
  /** The levels of effort, from low to high; absent if the agent reports none. */
  effortLevels: z.array(z.string()).optional(),
  /** Whether the agent uses this model by default. */
  isDefault: z.literal(true).optional(),
})
export type AgentModel = z.output<typeof AgentModel>

export const AgentState = z.object({
  name: AgentName,
  installed: z.boolean(),
  version: z.string().nullable(),
  /** A sentence that says why the agent cannot run and how to change this; `null` when the agent can run. */
  missing: z.string().nullable(),
  /** Whether the agent's key is passed into its sandbox, where every process can read it. */
  keyInSandbox: z.boolean(),
  /** The provider for which a person or a project may bring a key; absent when the agent takes none. */
  ownKey: z.enum(keyProviders).optional(),
  /** The models that the agent last reported or, without a report, the models known in advance. The agent may have further models. */
  models: z.array(AgentModel),
})
export type AgentState = z.output<typeof AgentState>

export const getAgents = defineRead(serverRoutes.getAgents, {
  summary:
    "The agents, with their versions, and why an agent can't run. None can run while no runner is connected.",
  open: 'signed_in',
  /** The project whose model keys count besides the person's own. Without this parameter, the keys of up to 100 projects of the person count. */
  query: { project: ProjectId.optional() },
  answer: { agents: z.array(AgentState) },
  faults: ['not_found'],
})
