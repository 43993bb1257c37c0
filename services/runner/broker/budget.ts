/** What a run, and a person in a day, may use of models. Counted in this process, since its start; a day is one of UTC. */
import { budgetUsedUp, dayBudgetUsedUp } from './apiFault.ts'
import { totalTokens, type ModelUsage } from './meter.ts'

/** `null`: as much as one likes. */
export interface BudgetLimits {
  readonly tokens: number | null
  /** In US dollars. */
  readonly dollars: number | null
}

/** US dollars for a million tokens of each kind. */
export interface Price {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** Prices by how the names of models begin; the longest that fits counts. */
export type Prices = Readonly<Record<string, Price>>

export interface Budget {
  /** Why nothing more may be asked; `undefined` while something may. What is under way is not broken off. */
  refusal(): typeof budgetUsedUp | typeof dayBudgetUsedUp | undefined
  spend(usage: ModelUsage): void
}

export interface Budgets {
  /** A run's own budget, which takes from the day of the person as well. */
  ofRun(userId: string): Budget
}

interface Spent {
  tokens: number
  dollars: number
}

export function openBudgets({
  run,
  day,
  prices,
  now,
}: {
  readonly run: BudgetLimits
  readonly day: BudgetLimits
  readonly prices: Prices
  /** Milliseconds since 1970. */
  readonly now: () => number
}): Budgets {
  let today = ''
  let days = new Map<string, Spent>()
  const dayOf = (userId: string): Spent => {
    const date = new Date(now()).toISOString().slice(0, 10)
    if (date !== today) [today, days] = [date, new Map()]
    const spent = days.get(userId) ?? { tokens: 0, dollars: 0 }
    days.set(userId, spent)
    return spent
  }
  return {
    ofRun(userId) {
      const ofRun: Spent = { tokens: 0, dollars: 0 }
      return {
        refusal() {
          if (isUsedUp(ofRun, run)) return budgetUsedUp
          return isUsedUp(dayOf(userId), day) ? dayBudgetUsedUp : undefined
        },
        spend(usage) {
          const tokens = totalTokens(usage)
          const dollars = costOf(usage, prices)
          for (const spent of [ofRun, dayOf(userId)]) {
            spent.tokens += tokens
            spent.dollars += dollars
          }
        },
      }
    },
  }
}

/** For whoever counts nothing. */
export const anyAmount: Budget = { refusal: () => undefined, spend: () => undefined }

function isUsedUp(spent: Spent, limits: BudgetLimits): boolean {
  return (
    (limits.tokens !== null && spent.tokens >= limits.tokens) ||
    (limits.dollars !== null && spent.dollars >= limits.dollars)
  )
}

/** In US dollars. A model without a price of its own counts as the dearest that has one: a budget must not be got round by a new name. */
export function costOf(usage: ModelUsage, prices: Prices): number {
  const at = (price: Price) =>
    (usage.inputTokens * price.input +
      usage.outputTokens * price.output +
      usage.cacheReadTokens * price.cacheRead +
      usage.cacheWriteTokens * price.cacheWrite) /
    1_000_000
  const fitting = Object.keys(prices)
    .filter((name) => usage.model.startsWith(name))
    .toSorted((a, b) => b.length - a.length)
  const price = fitting[0] === undefined ? undefined : prices[fitting[0]]
  return price === undefined ? Math.max(0, ...Object.values(prices).map(at)) : at(price)
}
