/** Opens the embedded stores of a data folder and, beside them, the shared ones to which they are carried. */
import { orElse } from './async/orElse.ts'
import { commands } from './commands/execute.ts'
import {
  beginOpening,
  busOnNats,
  openEventStore,
  openStored,
  type Opening,
  type Stores,
  type StoresConfig,
} from './compose.ts'
import { holdDataFolder } from './dataFolder/lock.ts'
import { eventLog, UnreadableEvent } from './eventlog/eventLog.ts'
import { identityOf } from './eventlog/logIdentity.ts'
import { markName } from './eventlog/reactor.ts'
import type { Logger } from './log.ts'
import type { EventStore } from './ports/eventStore.ts'

/** The stores at one of the two ends. */
export interface StoresAtEnd extends Stores {
  readonly eventStore: EventStore
}

export interface BothEnds {
  readonly from: StoresAtEnd
  readonly to: StoresAtEnd
  /** Whether services that use the target's queue have followed this log before: their marks in the queue are positions of that earlier log. */
  isFollowed(): Promise<boolean>
  close(): Promise<void>
}

/** Opens the stores at both ends, and locks the data folder until `close`. Throws like `openEngines`. */
export async function openBothEnds(config: StoresConfig, logger: Logger): Promise<BothEnds> {
  const release = holdDataFolder(config.dataDir)
  const { opening, close: closeStores } = beginOpening(config, logger)
  const close = () => closeStores().finally(release)
  const open = async (end: Opening): Promise<StoresAtEnd> => ({
    ...(await openStored(end)),
    eventStore: await openEventStore(end),
  })
  try {
    const engines = { eventStore: null, mongo: null, nats: null }
    const from = await open({ ...opening, config: { ...config, engines } })
    const isFollowed = async () => {
      const { nats } = config.engines
      if (nats === null) return false
      const { bus, jobs } = await busOnNats(opening, nats)
      const log = eventLog({ ...from, bus, clock: opening.clock })
      // Of a damaged stream, the copy says what to do.
      const identity = await identityOf({ ...from, commands: commands(log) }).catch(
        orElse(UnreadableEvent, undefined),
      )
      return identity !== undefined && (await jobs.marked(markName('dispatched', identity))) !== null
    }
    return { from, to: await open(opening), isFollowed, close }
  } catch (fault) {
    await close()
    throw fault
  }
}
