/** The red-team suite with its boxes in containers: every file of it as it is, but the one that weakens bubblewrap. */
import { readdirSync } from 'node:fs'
import { describe } from 'vitest'
import { boxEngine, boxVariables } from '../../containers/boxEngine.ts'
import { boxUnderTest } from '../../product/boxUnderTest.ts'

const found = await boxEngine()
const missing = 'missing' in found ? found.missing : undefined
// Before the suites are loaded, which start their products.
if (!('missing' in found)) boxUnderTest.env = boxVariables(found)

const names = readdirSync(new URL('../../hostile', import.meta.url)).flatMap((file) => {
  const name = /^(.+)\.spec\.ts$/.exec(file)?.[1]
  return name === undefined || name === 'weakerBox' ? [] : [name]
})

describe.skipIf(missing !== undefined).each(names)(
  `%s, with boxes in containers${missing === undefined ? '' : ` (${missing})`}`,
  async (name) => {
    await import(`../../hostile/${name}.spec.ts`)
  },
)
