/** Stores a key for models that a person or a project brings. The key is tried at its provider first. */
import { isSubscriptionToken, providerLabels, type KeyProvider } from '#domain/agentKeys.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { checkKey } from '#platform/credentials/keyCheck.ts'
import {
  addressFault,
  leadsInside,
  type KeyHolder,
  type ModelKeys,
  type StoredKey,
} from '#platform/credentials/modelKeys.ts'

export interface ModelPlaces {
  /** The address of each provider, as the operator configured it. */
  readonly addresses: Readonly<Record<KeyProvider, string>>
  /** Whether the address of a project's key may be an IP address of this machine or of a private network. */
  readonly mayReachPrivate: boolean
}

interface Entered {
  readonly holder: KeyHolder
  readonly provider: KeyProvider
  readonly key: StoredKey
}

interface KeyRecord<Answer> {
  readonly record: (checked: boolean) => Promise<Answer>
  /** Whether the key is recorded in the log. */
  readonly isRecorded: () => Promise<boolean>
}

/**
 * Stores the key in the vault and calls `record`. If nothing was recorded, the previous key is restored. Throws `key_refused` when the provider
 * refuses the key, `invalid_input` for a key of the wrong kind and for an address that is not allowed, and `not_found` for a holder that was deleted.
 */
export async function storeKey<Answer>(
  { modelKeys, models }: { readonly modelKeys: ModelKeys; readonly models: ModelPlaces },
  { holder, provider, key }: Entered,
  { record, isRecorded }: KeyRecord<Answer>,
): Promise<Answer> {
  refuseWrongKind(provider, key)
  const fault = key.baseUrl === null ? undefined : addressFault(key.baseUrl, models)
  if (fault !== undefined) throw new Fault('invalid_input', fault, 'baseUrl')
  const check = await checkKey(provider, key, { address: models.addresses[provider] })
  if (check === 'inside') throw new Fault('invalid_input', leadsInside, 'baseUrl')
  if (check === 'refused') throw new Fault('key_refused', refusalOf(provider, key), 'value')
  const previous = await modelKeys.keyOf(holder, provider)
  if (!(await modelKeys.set(holder, provider, key))) throw new Fault('not_found')
  try {
    return await record(check === 'accepted')
  } catch (thrown) {
    // The append may have succeeded despite the error. If that cannot be determined, the new key stays, since a repetition records it.
    const isKept = await isRecorded().catch(() => true)
    if (!isKept && previous) await modelKeys.set(holder, provider, previous)
    else if (!isKept) await modelKeys.remove(holder, provider)
    throw thrown
  }
}

function refuseWrongKind(provider: KeyProvider, { kind, value, baseUrl }: StoredKey): void {
  if (kind === 'subscription' && provider !== 'anthropic')
    throw new Fault('invalid_input', 'Only a subscription of Anthropic has a token for this.', 'kind')
  if (kind === 'subscription' && !isSubscriptionToken(value))
    throw new Fault(
      'invalid_input',
      'This is no token of a subscription. Run claude setup-token on your machine and enter what it prints; it begins with sk-ant-oat.',
      'value',
    )
  if (kind === 'api_key' && baseUrl === null && isSubscriptionToken(value))
    throw new Fault('invalid_input', 'This is the token of a subscription, not an API key.', 'value')
}

function refusalOf(provider: KeyProvider, { kind, baseUrl }: StoredKey): string {
  const who = baseUrl === null ? providerLabels[provider] : new URL(baseUrl).host
  return kind === 'subscription'
    ? `${who} refused this token, so it was not stored. Run claude setup-token again and enter the new one.`
    : `${who} refused this key, so it was not stored. Check that it is whole and has not been revoked.`
}
