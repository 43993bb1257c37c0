import { expect, test } from 'vitest'
import { playHistory } from '../../../../tests/runner/provenanceHistories.ts'
import { pickFrom } from '../../../../tests/server/tampering.ts'

test('recorder H6: in a random history each line is of who wrote it', async () => {
  const { wrong, steps, compared } = await playHistory(pickFrom(1), 12)
  expect({ wrong, steps }).toEqual({ wrong: [], steps: expect.anything() })
  expect(compared).toBeGreaterThan(0)
})
