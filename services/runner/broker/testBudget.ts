import { openBudgets, type Budget } from './budget.ts'

/** A run's budget of so many tokens. */
export function budgetOf(tokens: number): Budget {
  const any = { tokens: null, dollars: null }
  return openBudgets({ run: { tokens, dollars: null }, day: any, prices: {}, now: () => 0 }).ofRun('ada')
}
