/** A person's own keys for the models of agents, and how answers show a project's keys. No answer contains a key. */
import { z } from 'zod'
import { agentKeyLimits, keyKinds, keyProviders } from '../agentKeys.ts'
import { saying } from '../kernel/readInput.ts'
import { agentKeyRoutes } from './agentKeys.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { Moment } from './fields.schema.ts'

const { shortest, longest } = agentKeyLimits

/** A key that can be sent in a header: printable ASCII without spaces. */
export const KeyValue = z
  .string()
  .trim()
  .min(shortest, { error: saying(`needs at least ${shortest} characters.`) })
  .max(longest, { error: saying(`can have at most ${longest} characters.`) })
  .regex(/^[\x21-\x7e]+$/, { error: saying('can have only letters, digits and signs, without spaces.') })

const known = {
  provider: z.enum(keyProviders),
  /** The last four characters of the key; empty for a short key. */
  ending: z.string(),
  setAt: Moment,
  /** True when the provider accepted the key on entry; false when the provider could not be asked. */
  checked: z.boolean(),
}

export const AgentKey = z.object({ ...known, kind: z.enum(keyKinds) })
export type AgentKey = z.output<typeof AgentKey>

export const ProjectModelKey = z.object({
  ...known,
  /** The address that requests with this key go to; `null` for the provider's own address. */
  baseUrl: z.string().nullable(),
})
export type ProjectModelKey = z.output<typeof ProjectModelKey>

export const listAgentKeys = defineRead(agentKeyRoutes.listAgentKeys, {
  summary: "The user's own keys for the models of agents, without their values.",
  answer: { keys: z.array(AgentKey) },
})

export const setAgentKey = defineWrite(agentKeyRoutes.setAgentKey, {
  summary:
    "Sets or, with null, removes the user's own key at a provider, which their runs use from then on. It is tried at the provider first; one that is refused is not stored.",
  body: z.object({
    provider: z.enum(keyProviders),
    kind: z.enum(keyKinds).default('api_key'),
    value: KeyValue.nullable(),
  }),
  answer: { keys: z.array(AgentKey) },
  faults: ['key_refused'],
})
