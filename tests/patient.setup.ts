/** Gives `vi.waitFor` the same patience in every test, because there is no setting for that, and waits for imports at the end of each file. */
import { afterAll, vi } from 'vitest'
import { patienceMs } from './patience.ts'

const { waitFor } = vi
vi.waitFor = (holds, options) => {
  const own = typeof options === 'number' ? { timeout: options } : options
  return waitFor(holds, { timeout: patienceMs, ...own })
}

// Files share their modules: an import that the end of a file cuts off would fail in the next file too.
afterAll(() => vi.dynamicImportSettled())
