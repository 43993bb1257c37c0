/** Keys that people and projects bring for the models of agents. Plain data, for server and client. */

export const keyProviders = ['anthropic', 'openai', 'google'] as const
export type KeyProvider = (typeof keyProviders)[number]
export const providerLabels: Readonly<Record<KeyProvider, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
}

/** `subscription`: the token that `claude setup-token` prints, whose usage counts against the plan of its owner. */
export const keyKinds = ['api_key', 'subscription'] as const
export type KeyKind = (typeof keyKinds)[number]

/** Who pays for the model of a run. */
export const payers = ['person', 'project', 'server'] as const
export type Payer = (typeof payers)[number]

export const agentKeyLimits = { shortest: 8, longest: 1_000, addressLength: 500 } as const

/** The last four characters of a key, to show; empty for a key so short that they would give away too much of it. */
export const endingOf = (key: string): string => (key.length < 16 ? '' : key.slice(-4))

export const isSubscriptionToken = (key: string): boolean => key.startsWith('sk-ant-oat')
