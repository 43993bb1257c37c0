/**
 * Half of a thousand logs of 50 tasks, each with a different damage to one of its rows. The other half is in a file of its own, so that both run at
 * the same time.
 */
import { expect, test } from 'vitest'
import { note } from '../../report/notes.ts'
import { tryDamagedLogs } from '../../server/damagedLogs.ts'

// Holds findings 1.82.
test(
  'recorder C1, C2: with any damage to any row of 500 logs, no reader stops and verify names the damaged stream',
  { timeout: 7_200_000 },
  async () => {
    const { faults, kinds } = await tryDamagedLogs(500)
    expect(faults).toEqual([])
    expect(kinds.size).toBe(12)
    note('rows of 500 logs', [...kinds].map(([kind, count]) => `${count} of ${kind}`).join(', '))
  },
)
