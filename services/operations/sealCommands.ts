/** An operator's commands about seals: list the keys and the newest seal, and create a new key. */
import type { Engines } from '#platform/compose.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { knownIdentity, type KnowsIdentity } from '#platform/eventlog/logIdentity.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { newestSeal } from '#platform/seals/recordedSeals.ts'
import { replaceSigningKey, signingKeys } from '#platform/seals/signingKeys.ts'
import type { OperationResult } from './operation.ts'

export interface SealOperating extends Pick<Engines, 'logIdentity' | 'logDamage' | 'clock'> {
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly vault: Pick<Vault, 'getSecret' | 'putSecret'>
}

/** Lists the newest seal, the signing keys, newest first, and the notes in which each key vouches for the next one. */
export async function listSeals({ eventStore, vault, logIdentity }: SealOperating): Promise<OperationResult> {
  const [seal, keys] = [await newestSeal(eventStore, logIdentity), await signingKeys(vault, logIdentity)]
  return {
    lines: [
      seal === undefined
        ? 'The log was not sealed yet.'
        : `Sealed last at ${seal.at}, over ${seal.seal.size} events, with the root ${seal.seal.root}.`,
      ...(keys?.vkeys ?? []),
      ...linkLines(keys?.links ?? []),
    ],
  }
}

/** One line for each key of the log, newest first: the fingerprint and the key. */
export async function listKeys(
  stores: KnowsIdentity & {
    readonly commands: Pick<Commands, 'load'>
    readonly eventStore: Pick<EventStore, 'readStream'>
    readonly vault: Pick<Vault, 'getSecret'>
  },
): Promise<OperationResult> {
  const identity = await knownIdentity(stores)
  const keys = identity && (await signingKeys(stores.vault, identity))
  if (!keys) return { failed: true, lines: ['The log has no key yet: it gets one with its first seal.'] }
  return { lines: keys.published.map(({ fingerprint, verifierKey }) => `${fingerprint}  ${verifierKey}`) }
}

const linkLines = (links: readonly string[]) =>
  links.length === 0
    ? []
    : ['Each older key vouches for the next one:', ...links.flatMap((link) => link.trimEnd().split('\n'))]

/** Creates a key that signs from now on. The older keys stay in bundles, and `listSeals` still lists them. */
export async function replaceKey({
  vault,
  logIdentity,
  logDamage,
  clock,
}: SealOperating): Promise<OperationResult> {
  // The old key signs the next key under the log's name. With a damaged log that name is not certain, so the key is not replaced.
  if (logDamage !== null) return { failed: true, lines: [logDamage] }
  const { vkeys, links } = await replaceSigningKey(vault, logIdentity, clock)
  return {
    lines: [
      'The first of these keys signs from now on. Hand it out to whoever checks bundles:',
      ...vkeys,
      ...linkLines(links),
    ],
  }
}
