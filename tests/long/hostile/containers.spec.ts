/** The red-team suite with its sandboxes in containers: all its files, except the one that weakens bubblewrap. */
import { readdirSync } from 'node:fs'
import { describe } from 'vitest'
import { sandboxEngine, sandboxVariables } from '../../containers/sandboxEngine.ts'
import { sandboxUnderTest } from '../../product/sandboxUnderTest.ts'

const found = await sandboxEngine()
const missing = 'missing' in found ? found.missing : undefined
// Set before the suites are loaded, because they start their products.
if (!('missing' in found)) sandboxUnderTest.env = sandboxVariables(found)

const names = readdirSync(new URL('../../hostile', import.meta.url)).flatMap((file) => {
  const name = /^(.+)\.spec\.ts$/.exec(file)?.[1]
  return name === undefined || name === 'weakerSandbox' ? [] : [name]
})

describe.skipIf(missing !== undefined).each(names)(
  `%s, with sandboxes in containers${missing === undefined ? '' : ` (${missing})`}`,
  async (name) => {
    await import(`../../hostile/${name}.spec.ts`)
  },
)
