/** Keys that people and projects bring themselves for the models of agents. Plain data, for both the server and the client. */

export const keyProviders = ['anthropic', 'openai'] as const
export type KeyProvider = (typeof keyProviders)[number]
export const providerLabels: Readonly<Record<KeyProvider, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
}

/** `subscription` is a token that `claude setup-token` prints, which uses the person's own plan. */
export const keyKinds = ['api_key', 'subscription'] as const
export type KeyKind = (typeof keyKinds)[number]

/** Whose account a run uses. */
export const payers = ['person', 'project', 'server'] as const
export type Payer = (typeof payers)[number]

export const agentKeyLimits = { shortest: 8, longest: 1_000, addressLength: 500 } as const

/** What is shown of a key: its last four characters, and nothing of a key that has few more. */
export const endingOf = (key: string): string => (key.length < 16 ? '' : key.slice(-4))

export const isSubscriptionToken = (key: string): boolean => key.startsWith('sk-ant-oat')
