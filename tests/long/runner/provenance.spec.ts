/** 40 random histories of turns, pushes, merges, rewritten branches, renames and undos. */
import { expect, test } from 'vitest'
import { playHistory } from '../../runner/provenanceHistories.ts'
import { pickFrom } from '../../server/tampering.ts'

test('recorder H6: in 40 random histories each line is of who wrote it, on the page and in the notes', async () => {
  let lines = 0
  for (let seed = 1; seed <= 40; seed += 1) {
    const { wrong, steps, compared } = await playHistory(pickFrom(seed * 7_919), 25)
    expect({ seed, wrong, steps }).toEqual({ seed, wrong: [], steps: expect.anything() })
    lines += compared
  }
  process.stdout.write(`origins of ${lines} lines compared\n`)
  expect(lines).toBeGreaterThan(5_000)
})
