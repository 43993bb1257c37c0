/** The log's identity is given once, and an epoch ends with a restore. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../tests/domain/given.ts'
import { LogBegun, LogRestored, log } from './log.ts'

const [first, second] = ['00000000-9000-4000-8000-000000000001', '00000000-9000-4000-8000-000000000002']
const begun = LogBegun.of({ logId: first })

describe('a log', () => {
  test('begins once, whoever comes first', () => {
    given(log).when({ type: 'BeginLog', logId: first }).then([begun])
    given(log, begun).when({ type: 'BeginLog', logId: second }).thenNothing()
  })
  test.each([
    [undefined, 2],
    [1, 2],
    [4, 5],
  ])('put back where epoch %s was heard of begins epoch %i', (above, epoch) => {
    given(log, begun)
      .when({ type: 'RestoreLog', ...(above === undefined ? {} : { above }) })
      .then([LogRestored.of({ epoch })])
  })

  test('begins another epoch with each restore, under the id that it has', () => {
    given(log, begun)
      .when({ type: 'RestoreLog' })
      .then([LogRestored.of({ epoch: 2 })])
    expect(stateAfter(log, begun, LogRestored.of({ epoch: 2 }), LogRestored.of({ epoch: 3 }))).toEqual({
      kind: 'begun',
      logId: first,
      epoch: 3,
    })
  })
  test('that never began is not restored', () => given(log).when({ type: 'RestoreLog' }).thenNothing())
})
