/** API keys that people and projects bring for the models of their agents: providers, kinds, payers and limits. */

export const keyProviders = ['anthropic', 'openai', 'google'] as const
export type KeyProvider = (typeof keyProviders)[number]
export const providerLabels: Readonly<Record<KeyProvider, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
}

/** A `subscription` key is the token that `claude setup-token` prints. Its use counts against the owner's Claude subscription. */
export const keyKinds = ['api_key', 'subscription'] as const
export type KeyKind = (typeof keyKinds)[number]

/** Who pays for the model of a run. */
export const payers = ['person', 'project', 'server'] as const
export type Payer = (typeof payers)[number]

export const agentKeyLimits = { shortest: 8, longest: 1_000, addressLength: 500 } as const

/** The last four characters, by which people recognise the key; empty for a short key, where they would reveal too much. */
export const endingOf = (key: string): string => (key.length < 16 ? '' : key.slice(-4))

export const isSubscriptionToken = (key: string): boolean => key.startsWith('sk-ant-oat')
