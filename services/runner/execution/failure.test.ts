/** How a fault that ends a run is reported. */
import { expect, test } from 'vitest'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { outcomeOfFault } from './failure.ts'

const outcome = (fault: unknown) =>
  outcomeOfFault({ logger: { error: () => undefined }, now: () => new Date('2026-02-01T10:00:00Z') }, fault)

test('github 3.2: a wait that the code host asks for is told with its end', () => {
  expect(outcome(new CodeHostFault('rate_limited', 'Wait.', undefined, 60_000))).toEqual({
    kind: 'failed',
    code: 'code_host',
    reason: 'Wait.',
    exitCode: null,
    retryAt: '2026-02-01T10:01:00.000Z',
  })
  expect(outcome(new CodeHostFault('forbidden', 'No.'))).not.toHaveProperty('retryAt')
})
