/** Opens the embedded stores of a data folder and, beside them, the shared ones to which they are carried. */
import {
  beginOpening,
  openEventStore,
  openStored,
  type Opening,
  type Stores,
  type StoresConfig,
} from './compose.ts'
import { holdDataFolder } from './dataFolder/lock.ts'
import type { Logger } from './log.ts'
import type { EventStore } from './ports/eventStore.ts'

/** The stores at one of the two ends. */
export interface StoresAtEnd extends Stores {
  readonly eventStore: EventStore
}

export interface BothEnds {
  readonly from: StoresAtEnd
  readonly to: StoresAtEnd
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
    return {
      from: await open({ ...opening, config: { ...config, engines } }),
      to: await open(opening),
      close,
    }
  } catch (fault) {
    await close()
    throw fault
  }
}
