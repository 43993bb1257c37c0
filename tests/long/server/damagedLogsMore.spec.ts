/** The other half of a thousand logs of 50 tasks, each with a different damage to one of its rows. */
import { expect, test } from 'vitest'
import { tryDamagedLogs } from '../../server/damagedLogs.ts'

test(
  'recorder C1, C2: with any damage to any row of 500 more logs, no reader stops and verify names the damaged stream',
  { timeout: 7_200_000 },
  async () => expect((await tryDamagedLogs(500, 2_000_000 + (Date.now() % 1_000_000))).faults).toEqual([]),
)
