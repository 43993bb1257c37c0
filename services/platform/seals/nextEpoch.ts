/** Begins the next epoch of a log that was restored from a copy, and signs the tree from which it continues. */
import { randomUUID } from 'node:crypto'
import { logStream } from '#domain/kernel/streams.ts'
import { log as decider, type LogIdentity, type RestoredTree } from '#domain/log.ts'
import { bytesOfHex, hexOf, leafOf } from '#domain/proof/bundleHashes.ts'
import type { VerifierKey } from '#domain/proof/checkpoint.ts'
import { append, emptyFrontier, leafHash, rootOf, type TreeHead } from '#domain/proof/merkleTree.ts'
import { restoredText } from '#domain/proof/sealNotes.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { identityOf } from '#platform/eventlog/logIdentity.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { wholeLog, type EventStore } from '#platform/ports/eventStore.ts'
import { OlderData } from '#platform/ports/faults.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { cryptography } from './cryptography.ts'
import { hashIn, standInHash } from './damagedLeaf.ts'
import { openSigningKeys } from './signingKeys.ts'

export interface Restoring {
  readonly commands: Pick<Commands, 'load' | 'execute'>
  readonly eventStore: Pick<EventStore, 'readAll' | 'readStream'>
  readonly vault: Pick<Vault, 'getSecret' | 'putSecret'>
  readonly clock: Clock
}

const actor = { kind: 'system', service: 'log' } as const
const { sha256, utf8, isSignedBy } = cryptography

/**
 * Begins the next epoch. Must be called before the restored log is used, and while nobody appends to it: seals and read models from after the copy
 * was made then belong to an earlier epoch. `above` is an epoch that something outside of the log names; the new epoch is higher. Throws `OlderData`
 * for something that is not a log, and `UnreadableEvent` when the log's own stream is damaged.
 */
export async function restoreLog(restoring: Restoring, above = 0): Promise<LogIdentity> {
  const { commands, eventStore, vault, clock } = restoring
  const before = await identityOf(restoring)
  if (!before) throw new OlderData('The event store')
  const next = { ...before, epoch: Math.max(before.epoch, above) + 1 }
  const head = await wholeTree(eventStore)
  const keys = await openSigningKeys(vault, next, clock)
  const tree = {
    size: head.size,
    root: hexOf(head.root),
    signature: hexOf(keys.sign(utf8(restoredText(next, head)))),
    keyId: hexOf(keys.verifiers[0]?.keyId ?? new Uint8Array(4)),
  }
  const command = { type: 'RestoreLog', epoch: next.epoch, tree } as const
  await commands.execute(decider, logStream, command, { actor, commandId: randomUUID() })
  return next
}

/** Whether any of `keys`, which are keys of the log, signed the tree for the restore's epoch. */
export function isRestoreSigned(
  identity: LogIdentity,
  tree: RestoredTree,
  keys: readonly VerifierKey[],
): boolean {
  const text = utf8(restoredText(identity, { size: tree.size, root: bytesOfHex(tree.root) }))
  const signature = bytesOfHex(tree.signature)
  return keys.some(
    ({ keyId, publicKey }) => hexOf(keyId) === tree.keyId && isSignedBy(publicKey, text, signature),
  )
}

async function wholeTree(store: Restoring['eventStore']): Promise<TreeHead> {
  let frontier = emptyFrontier
  for await (const record of wholeLog(store)) {
    const hash = (await hashIn(store, record)) ?? standInHash(record)
    frontier = append(sha256, frontier, leafHash(sha256, leafOf(hash)))
  }
  return { size: frontier.size, root: rootOf(sha256, frontier) }
}
