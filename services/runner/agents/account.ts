/** Chooses the account that pays for an agent's model calls: the person's own key, else the project's key, else the server's key. */
import { createHash } from 'node:crypto'
import { labelOf } from '#domain/agents.ts'
import { providerLabels, type Payer } from '#domain/agentKeys.ts'
import { addressFault, type ModelKeys, type Paying } from '#platform/credentials/modelKeys.ts'
import { ownKeyOf, type AgentBackend, type InstalledAgents } from './installed.ts'
import type { PayingAccount } from './modelFaults.ts'
import type { Agent } from './port.ts'

export interface Account {
  readonly kind: 'account'
  readonly backend: Exclude<AgentBackend, { kind: 'missing' }>
  /** Who pays; `null` when the scripted model answers, which costs nothing. */
  readonly payer: Payer | null
  /** The account that error messages name; `null` for the server's own account. */
  readonly told: PayingAccount | null
  /** Equal for accounts with the same key. Does not reveal the key. */
  readonly fingerprint: string
}

export interface NoAccount {
  readonly kind: 'none'
  readonly code: 'no_key' | 'no_box'
  readonly why: string
}

export interface AccountDeps {
  readonly installed: Pick<InstalledAgents, 'backend' | 'withKey'>
  readonly modelKeys: Pick<ModelKeys, 'paying'>
  /** A sentence that says why only the scripted model may run here; `null` when real models may run too. */
  readonly onlyScripted: string | null
  readonly egress: { readonly mayReachPrivate: boolean }
}

export async function accountOf(
  { installed, modelKeys, onlyScripted, egress }: AccountDeps,
  { name, access }: Pick<Agent, 'name' | 'access'>,
  by: Paying,
): Promise<Account | NoAccount> {
  const provider = ownKeyOf(access)
  const own = provider === undefined ? undefined : await modelKeys.paying(by, provider)
  const backend = own && installed.withKey(name, own.key)
  if (provider === undefined || own === undefined || backend === undefined) return ofServer(name, installed)
  if (onlyScripted !== null) return { kind: 'none', code: 'no_box', why: onlyScripted }
  const { payer, key } = own
  if (key.kind === 'subscription' && (access.kind === 'key' || access.subscriptions !== true))
    return { kind: 'none', code: 'no_key', why: subscriptionRefused(name) }
  // The operator may have forbidden this address after it was entered with the key.
  const why = key.baseUrl === null ? undefined : addressFault(key.baseUrl, egress)
  if (why !== undefined) return { kind: 'none', code: 'no_key', why: `The project's key is not used. ${why}` }
  const service = key.baseUrl === null ? providerLabels[provider] : new URL(key.baseUrl).host
  const fingerprint = createHash('sha256').update(JSON.stringify(backend)).digest('hex')
  return { kind: 'account', backend, payer, told: { payer, kind: key.kind, service }, fingerprint }
}

const subscriptionRefused = (name: Agent['name']): string =>
  `Your own key is the token of a subscription, which is for Claude alone and not for ${labelOf(name)}. Choose Claude, or enter an API key under Settings, Agents and Keys.`

function ofServer(name: Agent['name'], { backend: of }: AccountDeps['installed']): Account | NoAccount {
  const backend = of(name)
  if (backend.kind === 'missing')
    return {
      kind: 'none',
      code: 'no_key',
      why: `This server has no API key for ${name}. Ask its operator to set one, or add your own under Settings, Agents and Keys.`,
    }
  const isScripted = backend.kind === 'broker' && backend.model.kind === 'scripted'
  return { kind: 'account', backend, payer: isScripted ? null : 'server', told: null, fingerprint: 'server' }
}
