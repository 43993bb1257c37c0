import { describe, expect, test } from 'vitest'
import { budgetUsedUp, dayBudgetUsedUp } from './apiFault.ts'
import { costOf, openBudgets } from './budget.ts'

const any = { tokens: null, dollars: null }
const price = (input: number) => ({ input, output: input * 5, cacheRead: input / 10, cacheWrite: input * 2 })
const prices = { 'claude-a': price(10), 'claude-a-mini': price(1), other: price(3) }
const usage = (tokens: number, model = 'claude-a-1') => ({
  model,
  inputTokens: tokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
})

describe('a budget', () => {
  test('of a run is its own', () => {
    const budgets = openBudgets({ run: { tokens: 100, dollars: null }, day: any, prices: {}, now: () => 0 })
    const [one, two] = [budgets.ofRun('ada'), budgets.ofRun('ada')]
    one.spend(usage(99))
    expect(one.refusal()).toBeUndefined()
    one.spend(usage(1))
    expect(one.refusal()).toBe(budgetUsedUp)
    expect(two.refusal()).toBeUndefined()
  })

  test('of a day is a person’s, over all their runs, and there again on the next', () => {
    let now = Date.UTC(2026, 0, 1, 23)
    const budgets = openBudgets({ run: any, day: { tokens: null, dollars: 1 }, prices, now: () => now })
    budgets.ofRun('ada').spend(usage(60_000))
    budgets.ofRun('ada').spend(usage(40_000))
    const later = budgets.ofRun('ada')
    expect(later.refusal()).toBe(dayBudgetUsedUp)
    expect(budgets.ofRun('eve').refusal()).toBeUndefined()
    now += 3_600_000
    expect(later.refusal()).toBeUndefined()
  })
})

describe('the cost', () => {
  test.each([
    ['of a model by the longest name that fits', 'claude-a-mini-2', 1],
    ['of one with a shorter name', 'claude-a-2', 10],
    ['of an unknown one is that of the dearest', 'new', 10],
  ])('%s', (_, model, dollars) => {
    expect(costOf(usage(1_000_000, model), prices)).toBe(dollars)
  })

  test('counts each kind of token', () => {
    const all = {
      model: 'other',
      inputTokens: 1e6,
      outputTokens: 1e6,
      cacheReadTokens: 1e6,
      cacheWriteTokens: 1e6,
    }
    expect(costOf(all, prices)).toBeCloseTo(3 + 15 + 0.3 + 6)
  })
})
