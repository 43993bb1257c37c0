/** A local code host whose deliveries go through the real webhook address to engines of the test's own, together with read models. */
import { join } from 'node:path'
import { startProjector } from '../../services/query/projection/projector.ts'
import { openTestEngines, type TestEngines } from '../server/engines.ts'
import { openWebhookAddress } from '../server/webhookAddress.ts'
import { sharedSamples, startLocal, temporaryFolder, type LocalCodeHost } from './codeHost.fixture.ts'

const secret = 'the secret of the hook'

export interface HostWithDeliveries {
  readonly local: LocalCodeHost
  readonly engines: TestEngines
  /** Called after everything that a test has started on the engines has stopped. */
  close(): Promise<void>
}

export async function hostWithDeliveries(): Promise<HostWithDeliveries> {
  const folder = await temporaryFolder()
  const engines = await openTestEngines()
  const projector = await startProjector(engines)
  const address = await openWebhookAddress(engines, [secret])
  const local = await startLocal(join(folder.path, 'data'), {
    on: await sharedSamples(),
    hook: { url: address.url, secret },
  })
  return {
    local,
    engines,
    async close() {
      await projector.stop()
      await local.stop()
      await address.close()
      await engines.close()
      await folder.remove()
    },
  }
}
