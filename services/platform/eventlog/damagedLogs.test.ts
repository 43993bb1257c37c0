/** Any damage to any row of a log affects only that row's stream. `tests/long/server/damagedLogs.spec.ts` damages a thousand logs. */
import { expect, test } from 'vitest'
import { tryDamagedLogs } from '../../../tests/server/damagedLogs.ts'

// Holds findings 1.76.
test(
  'recorder C1, C2: with any damage to any row, everything undamaged is read, written, sealed and verified',
  { timeout: 300_000 },
  async () => expect((await tryDamagedLogs(2, 1)).faults).toEqual([]),
)
