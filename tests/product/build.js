/** Builds outdated parts before the first test that starts the product. */
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { staleParts } from '../../scripts/parts.js'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

export default function buildProduct() {
  const stale = staleParts(root)
  if (stale.length > 0)
    execFileSync(process.execPath, [join(root, 'scripts/build.js'), ...stale], {
      cwd: root,
      stdio: 'inherit',
    })
}
