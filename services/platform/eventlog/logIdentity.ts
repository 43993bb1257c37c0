/** The identity of the log: its first event, appended by the first process that opens it. */
import { randomUUID } from 'node:crypto'
import { log as decider, type LogIdentity } from '#domain/log.ts'
import { logStream } from '#domain/kernel/streams.ts'
import { intact, type EventStore } from '#platform/ports/eventStore.ts'
import { OlderData, UnusableEngine } from '#platform/ports/faults.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { identityInFile, type SealsFile } from '#platform/seals/sealsFile.ts'
import type { Commands } from '../commands/execute.ts'
import { chainFaultOf } from './chain.ts'
import { UnreadableEvent } from './eventLog.ts'

interface OpeningLog {
  readonly commands: Pick<Commands, 'load' | 'execute'>
  readonly eventStore: Pick<EventStore, 'head' | 'readStream'>
}

/** The places outside of the log that store its identity. */
export interface KnowsIdentity {
  readonly readStore: Pick<ReadStore, 'catalog'>
  readonly sealsFile: Pick<SealsFile, 'newest'>
}

const actor = { kind: 'system', service: 'log' } as const
const page = 1_000
/** Stands for the log's identity when it is stored nowhere any more. No real log has it. */
const unknownLog: LogIdentity = { logId: '00000000-0000-0000-0000-000000000000', epoch: 1 }

/**
 * The log's identity. If the stream that holds the identity is damaged, the identity comes from a copy outside of the log or else is `unknownLog`,
 * and `logDamage` describes the damage. Throws `OlderData` like `openLog`, and `UnusableEngine` when the log of the read models is gone.
 */
export async function openKnownLog(
  opening: OpeningLog & KnowsIdentity & { readonly setAside: (fault: UnreadableEvent) => void },
): Promise<{ readonly logIdentity: LogIdentity; readonly logDamage: string | null }> {
  await refuseLostLog(opening)
  try {
    return { logIdentity: await openLog(opening), logDamage: null }
  } catch (fault) {
    const { logIdentity, damage } = await knownWithout(fault, opening)
    opening.setAside(damage)
    return { logIdentity, logDamage: damage.message }
  }
}

/** Throws when the log is empty although the read models are those of a log: beginning another would hide that one. */
async function refuseLostLog({ eventStore, readStore }: OpeningLog & KnowsIdentity): Promise<void> {
  if ((await eventStore.head()) !== null) return
  const { log } = await readStore.catalog()
  // Another process may have begun the log in the meantime.
  if (log === null || (await eventStore.head()) !== null) return
  throw new UnusableEngine(
    `The event store is empty, but the read models are those of log ${log.logId}. Check EVENTSTORE_URL or DATA_DIR, or put the log back from a backup. To start from nothing, remove the read models, keys and blobs too.`,
  )
}

/** The log's identity as `openKnownLog` finds it, but without writing to the log. `undefined` when the log was not begun and there is no copy. */
export async function knownIdentity(
  opened: Parameters<typeof identityOf>[0] & KnowsIdentity,
): Promise<LogIdentity | undefined> {
  try {
    return (await identityOf(opened)) ?? (await identityBeside(opened))
  } catch (fault) {
    return (await knownWithout(fault, opened)).logIdentity
  }
}

/**
 * If `fault` says that the stream with the log's identity is damaged, returns the identity from a copy outside of the log, or `unknownLog` without a
 * copy. Throws any other fault again.
 */
async function knownWithout(
  fault: unknown,
  beside: KnowsIdentity,
): Promise<{ readonly logIdentity: LogIdentity; readonly damage: UnreadableEvent }> {
  const known = await identityBeside(beside)
  // If a copy of the identity exists, the log is not in an older format: the stream with the identity was deleted.
  const damage =
    fault instanceof OlderData && known
      ? new UnreadableEvent({ stream: logStream, revision: 0, type: 'LogBegun' }, 'deleted', fault)
      : fault
  if (!(damage instanceof UnreadableEvent)) throw damage
  return { logIdentity: known ?? unknownLog, damage }
}

/** The identity in the read models' catalog or, if it has none, in the newest seal outside of the log; `undefined` when neither exists. */
async function identityBeside({ readStore, sealsFile }: KnowsIdentity): Promise<LogIdentity | undefined> {
  const { log } = await readStore.catalog()
  if (log && log.logId !== unknownLog.logId) return log
  return identityInFile(sealsFile)
}

/**
 * Returns the log's identity. If the log is empty, appends a first event with a new identity. Throws `OlderData` when the log has events but did not
 * begin in this format, and `UnreadableEvent` when the log's own stream is damaged.
 */
export async function openLog({ commands, eventStore }: OpeningLog): Promise<LogIdentity> {
  const known = await identityOf({ commands, eventStore })
  if (known) return known
  if ((await eventStore.head()) !== null) {
    // Another process may have begun the log in the meantime.
    const begun = await identityOf({ commands, eventStore })
    if (begun) return begun
    throw new OlderData('The event store')
  }
  const command = { type: 'BeginLog', logId: randomUUID() } as const
  await commands.execute(decider, logStream, command, { actor, commandId: randomUUID() })
  const begun = await identityOf({ commands, eventStore })
  if (!begun) throw new Error('The log was begun and does not say so.')
  return begun
}

/** The log's identity; `undefined` when the log was not begun. Throws `UnreadableEvent` when the log's own stream is damaged or was changed. */
export async function identityOf({
  commands,
  eventStore,
}: {
  readonly commands: Pick<Commands, 'load'>
  readonly eventStore: Pick<EventStore, 'readStream'>
}): Promise<LogIdentity | undefined> {
  const { state } = await commands.load(decider, logStream)
  const all = await eventStore.readStream(logStream, { from: 0, direction: 'forwards', limit: page })
  const events = intact(all)
  // A changed identity must not be accepted, since everything derived from the log would then be discarded.
  const changed = events.find((event, at) => chainFaultOf(event, events[at - 1] ?? null) !== undefined)
  if (changed) throw new UnreadableEvent(changed, 'changed')
  return state.kind === 'begun' ? { logId: state.logId, epoch: state.epoch } : undefined
}
