/** Gives `vi.waitFor` the same patience in every test, because there is no setting for that. */
import { vi } from 'vitest'
import { patienceMs } from './patience.ts'

const { waitFor } = vi
vi.waitFor = (holds, options) => {
  const own = typeof options === 'number' ? { timeout: options } : options
  return waitFor(holds, { timeout: patienceMs, ...own })
}
