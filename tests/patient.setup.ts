/** Gives each wait of a test the same patience: `vi.waitFor` has no setting for it. */
import { vi } from 'vitest'
import { patienceMs } from './patience.ts'

const { waitFor } = vi
vi.waitFor = (holds, options) => {
  const own = typeof options === 'number' ? { timeout: options } : options
  return waitFor(holds, { timeout: patienceMs, ...own })
}
