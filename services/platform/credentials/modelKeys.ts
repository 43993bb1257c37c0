/** The model keys of people and projects, stored only in the vault, each with everything that decides how it is used. */
import { isIP } from 'node:net'
import { z } from 'zod'
import { keyKinds, keyProviders, type KeyProvider } from '#domain/agentKeys.ts'
import { KeyDestroyed } from '#platform/ports/faults.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { isLoopback, reachOf } from '#platform/http/addressReach.ts'

const StoredKey = z.object({
  kind: z.enum(keyKinds),
  value: z.string(),
  /**
   * The address to which a project's key is sent; `null`: the address at which the server reaches the provider. It is stored with the key, so that
   * the key is never sent elsewhere.
   */
  baseUrl: z.string().nullable(),
})
export type StoredKey = z.infer<typeof StoredKey>

export interface KeyHolder {
  readonly kind: 'person' | 'project'
  readonly id: string
}

/** A task's owner and its project, in the order in which their keys are used. */
export interface Paying {
  readonly ownerId: string
  readonly projectId: string
}

export interface ModelKeys {
  keyOf(holder: KeyHolder, provider: KeyProvider): Promise<StoredKey | undefined>
  /** The key that a run uses instead of the server's: the person's or, without one, the project's. */
  paying(by: Paying, provider: KeyProvider): Promise<{ payer: KeyHolder['kind']; key: StoredKey } | undefined>
  /** All keys of the person and the project. */
  valuesOf(by: Paying): Promise<readonly string[]>
  /** Stores a key, replacing an older one. Returns false, without storing anything, when the holder was deleted in the meantime. */
  set(holder: KeyHolder, provider: KeyProvider, key: StoredKey): Promise<boolean>
  remove(holder: KeyHolder, provider: KeyProvider): Promise<void>
}

export function modelKeys({
  vault,
}: {
  readonly vault: Pick<Vault, 'getSecret' | 'putSecret' | 'removeSecret'>
}): ModelKeys {
  const keyOf: ModelKeys['keyOf'] = async (holder, provider) => {
    const secret = await vault.getSecret(scopeOf(holder), nameOf(provider))
    return secret === undefined ? undefined : StoredKey.parse(JSON.parse(secret))
  }
  return {
    keyOf,
    async paying(by, provider) {
      for (const holder of holdersOf(by)) {
        const key = await keyOf(holder, provider)
        if (key !== undefined) return { payer: holder.kind, key }
      }
      return undefined
    },
    async valuesOf(by) {
      const asked = holdersOf(by).flatMap((holder) => keyProviders.map((provider) => keyOf(holder, provider)))
      return (await Promise.all(asked)).flatMap((key) => (key === undefined ? [] : [key.value]))
    },
    async set(holder, provider, key) {
      try {
        await vault.putSecret(scopeOf(holder), nameOf(provider), JSON.stringify(key))
        return true
      } catch (fault) {
        if (fault instanceof KeyDestroyed) return false
        throw fault
      }
    },
    remove: (holder, provider) => vault.removeSecret(scopeOf(holder), nameOf(provider)),
  }
}

/** The vault scope of a holder's keys, which is destroyed together with the holder. */
const scopeOf = ({ kind, id }: KeyHolder): string =>
  kind === 'person' ? `user:${id}` : `project-secrets:${id}`

/** The name of a key in the vault. No variable can have such a name, so it never collides with a project's secret. */
const nameOf = (provider: KeyProvider): string => `agent-key:${provider}`

const holdersOf = ({ ownerId, projectId }: Paying): readonly KeyHolder[] => [
  { kind: 'person', id: ownerId },
  { kind: 'project', id: projectId },
]

/** How a key is sent. A gateway for Anthropic or Google may read either of two headers, so it gets both. */
export type KeyUse = 'api_key' | 'subscription' | 'gateway'

export const useOf = ({ kind, baseUrl }: StoredKey): KeyUse =>
  kind === 'subscription' ? kind : baseUrl === null ? 'api_key' : 'gateway'

const subscriptionBeta = 'oauth-2025-04-20'

/** The headers that authenticate a request. `betas` is the value of the request's own `anthropic-beta` header. */
export function keyHeaders(
  provider: KeyProvider,
  key: string,
  use: KeyUse,
  betas = '',
): Readonly<Record<string, string>> {
  const authorization = `Bearer ${key}`
  if (provider === 'openai') return { authorization }
  if (provider === 'google') return { 'x-goog-api-key': key, ...(use === 'gateway' && { authorization }) }
  switch (use) {
    case 'api_key':
      return { 'x-api-key': key }
    case 'gateway':
      return { 'x-api-key': key, authorization }
    case 'subscription':
      return {
        authorization,
        'anthropic-beta': [betas, subscriptionBeta].filter((beta) => beta !== '').join(','),
      }
  }
}

export const leadsInside =
  "This address leads to the server's own machine or into a private network. The operator of the server can allow such addresses, in numbers, with PRIVATE_EGRESS=1."

/**
 * Why a project's key may not be sent to an address, in a sentence; `undefined` when it may. An address in this machine or a private network must be
 * numeric or `localhost`, and allowed by the operator, as for sandboxes. Other names are checked when they are resolved.
 */
export function addressFault(
  baseUrl: string,
  { mayReachPrivate }: { readonly mayReachPrivate: boolean },
): string | undefined {
  const { protocol } = new URL(baseUrl)
  if (isPrivateNumeric(baseUrl)) {
    const host = hostOf(baseUrl)
    return mayReachPrivate && (isLoopback(host) || reachOf(host) === 'inside') ? undefined : leadsInside
  }
  return protocol === 'https:' ? undefined : 'Enter an https address: without TLS, others could read the key.'
}

/** Whether an address is `localhost`, or numeric and outside of the public network. */
export function isPrivateNumeric(baseUrl: string): boolean {
  const host = hostOf(baseUrl)
  return isLoopback(host) || (isIP(host) !== 0 && reachOf(host) !== 'public')
}

const hostOf = (baseUrl: string): string =>
  new URL(baseUrl).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
