import { openBudgets, type Budget } from '../services/runner/model/budget.ts'

/** A budget of this many tokens per run and no limit per day, so that it needs no log. */
export function budgetOf(tokens: number): Budget {
  const any = { tokens: null, dollars: null }
  const noLog = () => Promise.reject(new Error('There is no log here.'))
  const budgets = openBudgets({
    run: { tokens, dollars: null },
    day: any,
    prices: {},
    now: () => 0,
    commands: { execute: noLog, load: noLog },
    patienceMs: 0,
    onFault: (fault) => {
      throw fault
    },
  })
  return budgets.ofRun({ userId: 'ada', executionId: 'run' })
}
