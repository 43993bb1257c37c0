/** The identity of the log: its first event, appended by whoever opens it first. */
import { randomUUID } from 'node:crypto'
import { log as decider, type LogIdentity } from '#domain/log.ts'
import { logStream } from '#domain/kernel/streams.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { OlderData } from '#platform/ports/faults.ts'
import type { Commands } from '../commands/execute.ts'

const actor = { kind: 'system', service: 'log' } as const

/** The log's identity; an empty log is begun. Throws `OlderData` for events that no log of this format began with. */
export async function openLog({
  commands,
  eventStore,
}: {
  commands: Pick<Commands, 'load' | 'execute'>
  eventStore: Pick<EventStore, 'head'>
}): Promise<LogIdentity> {
  const known = await identityOf(commands)
  if (known) return known
  if ((await eventStore.head()) !== null) {
    // Another process may have begun it since.
    const begun = await identityOf(commands)
    if (begun) return begun
    throw new OlderData('The event store')
  }
  const command = { type: 'BeginLog', logId: randomUUID() } as const
  await commands.execute(decider, logStream, command, { actor, commandId: randomUUID() })
  const begun = await identityOf(commands)
  if (!begun) throw new Error('The log was begun and does not say so.')
  return begun
}

/**
 * Begins the next epoch of a log that was put back from a copy, before anybody goes on with it: whatever is known of more than the copy
 * has is of another epoch from here on. `above` is an epoch that something beside the log has heard of.
 */
export async function restoreLog(
  commands: Pick<Commands, 'load' | 'execute'>,
  above = 0,
): Promise<LogIdentity> {
  await commands.execute(
    decider,
    logStream,
    { type: 'RestoreLog', above },
    { actor, commandId: randomUUID() },
  )
  const restored = await identityOf(commands)
  if (!restored) throw new OlderData('The event store')
  return restored
}

/** Whose log this is; `undefined` for one that was not begun. */
export async function identityOf(commands: Pick<Commands, 'load'>): Promise<LogIdentity | undefined> {
  const { state } = await commands.load(decider, logStream)
  return state.kind === 'begun' ? { logId: state.logId, epoch: state.epoch } : undefined
}
