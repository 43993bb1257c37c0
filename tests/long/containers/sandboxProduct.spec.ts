/** The whole product with its sandboxes in containers: the same suites as with bubblewrap, including the hostile one. */
import { describe } from 'vitest'
import { sandboxUnderTest } from '../../product/sandboxUnderTest.ts'
import { sandboxEngine, sandboxVariables } from '../../containers/sandboxEngine.ts'

const found = await sandboxEngine()
const missing = 'missing' in found ? found.missing : undefined
// Set before the suites are loaded, because they start their products.
if (!('missing' in found)) sandboxUnderTest.env = sandboxVariables(found)

describe.skipIf(missing !== undefined)(
  `sandboxes in containers${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    describe('the main job', async () => {
      await import('../../server/mainJob.spec.ts')
    })
    describe('agents that wait', async () => {
      await import('../server/warmAgents.spec.ts')
    })
    describe('a server that is killed', async () => {
      await import('../../server/crash.spec.ts')
    })
    describe('what is cancelled', async () => {
      await import('../../server/cancel.spec.ts')
    })
    describe('the settings of a project', async () => {
      await import('../../server/projectSettings.spec.ts')
    })
    describe('a hostile repository', async () => {
      await import('../../server/hostile.spec.ts')
    })
  },
)
