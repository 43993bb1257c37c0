/** A program that rebuilds the read models of a folder, as the product does, and ends when that is done and cleaned up. */
import { openInProcessBus } from '#platform/bus/inProcess.ts'
import { openStores } from '#platform/compose.ts'
import { logger } from '#platform/log.ts'
import { noTelemetry } from '#platform/telemetry/telemetry.ts'
import { startProjector } from '../../../services/query/projection/projector.ts'
import { onThreads } from '../../../services/query/projection/rebuildThread.ts'
import { eventually, testLog } from '../../server/engines.ts'

const config = {
  dataDir: process.argv[2] ?? '',
  engines: { eventStore: null, mongo: null, nats: null },
  masterKey: undefined,
  logLevel: 'error',
}
const log = logger('error')
const stores = await openStores(config, log)
const { readStore } = stores
const bus = openInProcessBus({ onFault: () => undefined })
const engines = {
  ...stores,
  bus,
  clock: { now: () => new Date() },
  logIdentity: testLog,
  logger: log,
  emit: noTelemetry,
}
process.stdout.write('begun\n')
const projector = await startProjector(engines, onThreads(config, engines))
await eventually(
  'it is made and tidied up',
  async () => {
    const { live, wanted } = await readStore.catalog()
    return wanted.length === 0 && (await readStore.generations()).length === Object.keys(live).length
  },
  120_000,
)
await projector.stop()
await stores.close()
