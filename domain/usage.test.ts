/** A person's usage of models on one day: all metered usage is recorded, and added up for each model. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../tests/domain/given.ts'
import { executionId } from '../tests/domain/ids.ts'
import { ModelUseMetered, OutputMetered, usage } from './usage.ts'

const use = (model: string, n: number) => ({
  executionId: executionId(n),
  model,
  inputTokens: n,
  outputTokens: 2 * n,
  cacheReadTokens: 3 * n,
  cacheWriteTokens: 4 * n,
})
const metered = (model: string, n: number) => ModelUseMetered.of(use(model, n))

describe('what was metered', () => {
  test('is recorded, each by itself', () =>
    given(usage, [metered('a', 1)])
      .when({ type: 'MeterModelUse', uses: [use('a', 2), use('b', 3)] })
      .then([metered('a', 2), metered('b', 3)]))
  test('is nothing when there is none', () =>
    given(usage).when({ type: 'MeterModelUse', uses: [] }).thenNothing())
  test('adds up for each model, over all executions', () => {
    const state = stateAfter(usage, [metered('a', 1), metered('b', 10), metered('a', 2)])
    const of = (model: string, n: number) => {
      const { executionId: _executionId, ...tokens } = use(model, n)
      return tokens
    }
    expect([...state.models.values()]).toEqual([of('a', 3), of('b', 10)])
  })
})

describe('what was recorded of runs', () => {
  test('adds up, over all executions', () => {
    const recorded = (bytes: number, n: number) => OutputMetered.of({ executionId: executionId(n), bytes })
    given(usage, [recorded(5, 1)])
      .when({ type: 'MeterOutput', executionId: executionId(2), bytes: 7 })
      .then([recorded(7, 2)])
    expect(stateAfter(usage, [recorded(5, 1), metered('a', 1), recorded(7, 2)]).outputBytes).toBe(12)
  })
  test('is not told where it is nothing', () =>
    given(usage)
      .when({ type: 'MeterOutput', executionId: executionId(1), bytes: 0 })
      .thenNothing())
})
