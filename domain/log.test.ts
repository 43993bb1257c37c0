/** The log gets its identity once, and an epoch ends with a restore. */
import { describe, expect, test } from 'vitest'
import { lifted } from './kernel/event.schema.ts'
import { given, stateAfter } from '../tests/domain/given.ts'
import { LogBegun, LogRestored, log } from './log.ts'

const [first, second] = ['00000000-9000-4000-8000-000000000001', '00000000-9000-4000-8000-000000000002']
const tree = { size: 1, root: '0'.repeat(64), signature: '0'.repeat(128), keyId: '0'.repeat(8) }
const begun = LogBegun.of({ logId: first })

describe('a log', () => {
  test('begins once, whoever comes first', () => {
    given(log).when({ type: 'BeginLog', logId: first }).then([begun])
    given(log, begun).when({ type: 'BeginLog', logId: second }).thenNothing()
  })
  test('begins another epoch with each restore, under the id that it has', () => {
    given(log, begun)
      .when({ type: 'RestoreLog', epoch: 4, tree })
      .then([LogRestored.of({ epoch: 4, tree })])
    const [second, fourth] = [2, 4].map((epoch) => LogRestored.of({ epoch, tree }))
    expect(second && fourth && stateAfter(log, begun, second, fourth)).toEqual({
      kind: 'begun',
      logId: first,
      epoch: 4,
    })
  })
  test('goes back to no epoch that it has been in', () => {
    given(log, begun, LogRestored.of({ epoch: 2, tree }))
      .when({ type: 'RestoreLog', epoch: 2, tree })
      .thenNothing()
  })
  test('reads a restore that nobody signed, as version 1 recorded it', () => {
    expect(lifted(LogRestored, 1, { data: { epoch: 2 }, content: null })).toEqual({
      data: { epoch: 2, tree: null },
      content: null,
    })
  })
  test('that never began is not restored', () =>
    given(log).when({ type: 'RestoreLog', epoch: 2, tree }).thenNothing())
})
