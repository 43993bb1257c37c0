/** Limits on model usage for a run, and for a person and UTC day. A run's usage is counted in this process, a day's in the log, for all runners. */
import { randomUUID } from 'node:crypto'
import { usageStream } from '#domain/kernel/streams.ts'
import { type MeteredUse, usage, type UsageState, type UseOfModel } from '#domain/usage.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { BudgetConfig } from '#platform/config/config.ts'
import { budgetUsedUp, dayBudgetUsedUp } from './apiFault.ts'
import { totalTokens, type ModelUsage } from './meter.ts'

export type BudgetLimits = BudgetConfig['run']
type Prices = BudgetConfig['prices']

export interface Budget {
  /** The reason why no more requests to models are allowed; `undefined` while they are allowed. Running requests are not aborted. Never rejects. */
  refusal(): Promise<typeof budgetUsedUp | typeof dayBudgetUsedUp | undefined>
  spend(usage: ModelUsage): void
  /** Resolves when the usage is counted for all runners, or cannot be counted now. Never rejects. */
  settled(): Promise<void>
}

export interface Budgets {
  /** The budget of a run, whose usage also counts for the person's day. */
  ofRun(run: { readonly userId: string; readonly executionId: string }): Budget
}

interface Spent {
  readonly tokens: number
  readonly dollars: number
}
/** The longest name of a model that the log accepts, in characters. */
const maxNameLength = 200
/** The highest number of tokens that one report of usage can have, far above that of any real answer. */
const maxTokens = 1e12
const nothing: Spent = { tokens: 0, dollars: 0 }

/** Makes budgets. The log has people's usage of a day only if there is a limit for days. */
export function openBudgets({
  run,
  day,
  prices,
  now,
  ...logged
}: DayBookOptions &
  BudgetConfig & {
    /** Returns milliseconds since 1970. */
    readonly now: () => number
  }): Budgets {
  const books = new Map<string, DailyUsage>()
  const todayOf = (userId: string): DailyUsage | undefined => {
    if (day.tokens === null && day.dollars === null) return undefined
    const today = new Date(now()).toISOString().slice(0, 10)
    const open = books.get(userId)
    if (open?.day === today) return open
    const book = openDayBook(logged, userId, today)
    books.set(userId, book)
    return book
  }
  const spentIn = (uses: readonly ModelUsage[]): Spent =>
    uses.reduce((spent, use) => more(spent, use, prices), nothing)
  return {
    ofRun({ userId, executionId }) {
      let ofRun = nothing
      return {
        async refusal() {
          if (isUsedUp(ofRun, run)) return budgetUsedUp
          const today = todayOf(userId)
          return today && isUsedUp(spentIn(await today.uses()), day) ? dayBudgetUsedUp : undefined
        },
        spend(usage) {
          const use = meteredUse(executionId, usage)
          ofRun = more(ofRun, use, prices)
          todayOf(userId)?.enter(use)
        },
        settled: async () => todayOf(userId)?.settled(),
      }
    },
  }
}

/** An unlimited budget. */
export const anyAmount: Budget = {
  refusal: async () => undefined,
  spend: () => undefined,
  settled: async () => undefined,
}

function more(spent: Spent, use: ModelUsage, prices: Prices): Spent {
  return { tokens: spent.tokens + totalTokens(use), dollars: spent.dollars + costOf(use, prices) }
}

/** The usage with each value limited to a range that the log accepts. A refused entry would hold up all later ones. */
function meteredUse(executionId: string, usage: ModelUsage): MeteredUse {
  return {
    executionId,
    model: usage.model.slice(0, maxNameLength),
    inputTokens: whole(usage.inputTokens),
    outputTokens: whole(usage.outputTokens),
    cacheReadTokens: whole(usage.cacheReadTokens),
    cacheWriteTokens: whole(usage.cacheWriteTokens),
  }
}

const whole = (tokens: number): number => Math.min(Math.max(Math.ceil(tokens), 0), maxTokens)

function isUsedUp(spent: Spent, limits: BudgetLimits): boolean {
  return (
    (limits.tokens !== null && spent.tokens >= limits.tokens) ||
    (limits.dollars !== null && spent.dollars >= limits.dollars)
  )
}

/**
 * The cost in US dollars, by the price of the longest prefix that matches the model. A model without a price counts like the most expensive model
 * that has a price. So a new name does not evade a budget.
 */
export function costOf(usage: ModelUsage, prices: Prices): number {
  const at = (price: Prices[string]) =>
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

/** A person's model usage on a UTC day. It is read from the log each time, so that it holds across restarts and runners. */
interface DailyUsage {
  /** The day, such as `2026-01-31`. */
  readonly day: string
  /** Adds usage, and records it in the log in the background. */
  enter(use: MeteredUse): void
  /**
   * The usage of all runners. Never rejects: while the log is unavailable, this is the usage that was read last, plus the usage that could not be
   * recorded yet.
   */
  uses(): Promise<readonly UseOfModel[]>
  /**
   * Resolves when the added usage is in the log, or cannot be recorded now. In the second case it is recorded together with the next usage. Never
   * rejects.
   */
  settled(): Promise<void>
}

interface DayBookOptions {
  readonly commands: Pick<Commands, 'execute' | 'load'>
  /** How long recording waits for an unavailable log. */
  readonly patienceMs: number
  /** Called when the log could not be read or written. */
  readonly onFault: (fault: unknown) => void
}

const actor = { kind: 'system', service: 'runner' } as const

function openDayBook(
  { commands, patienceMs, onFault }: DayBookOptions,
  userId: string,
  day: string,
): DailyUsage {
  const stream = usageStream(userId, day)
  let recorded: UsageState = usage.initial
  /** Usage that is not in the log yet. */
  let waiting: readonly MeteredUse[] = []
  // Steps run one at a time. Otherwise usage could be counted twice: as read from the log, and as waiting.
  let last: Promise<unknown> = Promise.resolve()
  const serialized = (step: () => Promise<void>): Promise<void> => {
    const done = last.then(step).catch(onFault)
    last = done
    return done
  }

  async function record(): Promise<void> {
    const uses = waiting
    if (uses.length === 0) return
    const cause = { actor, commandId: randomUUID(), patienceMs }
    const { state } = await commands.execute(usage, stream, { type: 'MeterModelUse', uses }, cause)
    recorded = state
    waiting = waiting.slice(uses.length)
  }
  async function read(): Promise<void> {
    recorded = (await commands.load(usage, stream)).state
  }

  return {
    day,
    enter(use) {
      waiting = [...waiting, use]
      void serialized(record)
    },
    async uses() {
      void serialized(record)
      let uses: readonly UseOfModel[] = []
      await serialized(() => read().finally(() => (uses = [...recorded.models.values(), ...waiting])))
      return uses
    },
    settled: () => serialized(record),
  }
}
