/** Limits on the usage of models: counted for a run in the process, and for a day in the log. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { usageStream } from '#domain/kernel/streams.ts'
import { commands, type Commands } from '#platform/commands/execute.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { executionId, userId } from '../../../tests/domain/ids.ts'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { budgetUsedUp, dayBudgetUsedUp } from './apiFault.ts'
import { costOf, openBudgets, type BudgetLimits } from './budget.ts'
import { budgetOf } from '../../../tests/budgetOf.ts'

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

test('the budget of a run is its own', async () => {
  const [one, two] = [budgetOf(100), budgetOf(100)]
  one.spend(usage(99))
  expect(await one.refusal()).toBeUndefined()
  one.spend(usage(1))
  expect(await one.refusal()).toBe(budgetUsedUp)
  expect(await two.refusal()).toBeUndefined()
})

describe('the budget of a day', () => {
  let engines: TestEngines
  let now = 0
  let faults: unknown[] = []
  beforeEach(async () => {
    engines = await openTestEngines()
    now = Date.UTC(2026, 0, 1, 23)
    faults = []
  })
  afterEach(() => engines.close())

  const [ada, eve] = [userId(1), userId(2)]
  const thousand: BudgetLimits = { tokens: 1_000, dollars: null }
  /** A runner's budgets, as after its start: it knows what is in the log. */
  const runner = (day: BudgetLimits, log: Pick<Commands, 'execute' | 'load'> = commands(engines.log)) => {
    const budgets = openBudgets({
      run: any,
      day,
      prices,
      now: () => now,
      commands: log,
      patienceMs: 0,
      onFault: (fault) => faults.push(fault),
    })
    return { run: (n: number, of = ada) => budgets.ofRun({ userId: of, executionId: executionId(n) }) }
  }
  const inLog = (of = ada, day = '2026-01-01') => engines.log.read(usageStream(of, day), 0, 100)

  test('is a person’s, over all their runs, and there again on the next', async () => {
    const { run } = runner({ tokens: null, dollars: 1 })
    run(1).spend(usage(60_000))
    run(2).spend(usage(40_000))
    const later = run(3)
    expect(await later.refusal()).toBe(dayBudgetUsedUp)
    expect(await run(4, eve).refusal()).toBeUndefined()
    now += 3_600_000
    expect(await later.refusal()).toBeUndefined()
  })

  test('counts over a restart, each request once', async () => {
    const before = runner(thousand).run(1)
    before.spend(usage(400))
    before.spend(usage(500))
    await before.settled()
    const after = runner(thousand).run(2)
    expect(await after.refusal()).toBeUndefined()
    after.spend(usage(99))
    expect(await after.refusal()).toBeUndefined()
    after.spend(usage(1))
    expect(await after.refusal()).toBe(dayBudgetUsedUp)
    expect(await runner(thousand).run(3).refusal()).toBe(dayBudgetUsedUp)
    expect((await inLog()).map(({ type, data }) => [type, data])).toEqual(
      [
        [1, 400],
        [1, 500],
        [2, 99],
        [2, 1],
      ].map(([n = 0, tokens = 0]) => ['ModelUseMetered', { executionId: executionId(n), ...usage(tokens) }]),
    )
  })

  test('counts over two runners that spend at once', async () => {
    const runs = [runner(thousand).run(1), runner(thousand).run(2)]
    for (let n = 0; n < 10; n += 1) for (const run of runs) run.spend(usage(50))
    await Promise.all(runs.map((run) => run.settled()))
    for (const run of runs) expect(await run.refusal()).toBe(dayBudgetUsedUp)
    expect(await inLog()).toHaveLength(20)
    expect(faults).toEqual([])
  })

  test('counts what cannot be brought to the log, and brings it there once that is back', async () => {
    const log = commands(engines.log)
    const away = () => Promise.reject(new EngineUnavailable('the event store'))
    let isAway = false
    const { run } = runner(thousand, {
      execute: (...command) => (isAway ? away() : log.execute(...command)),
      load: (...asked) => (isAway ? away() : log.load(...asked)),
    })
    const going = run(1)
    going.spend(usage(500))
    await going.settled()
    isAway = true
    going.spend(usage(499))
    expect(await going.refusal()).toBeUndefined()
    going.spend(usage(1))
    expect(await going.refusal()).toBe(dayBudgetUsedUp)
    expect(faults).not.toEqual([])
    isAway = false
    expect(await going.refusal()).toBe(dayBudgetUsedUp)
    expect(await inLog()).toHaveLength(3)
  })

  test('takes whatever a program in a sandbox told it had used', async () => {
    const { run } = runner(thousand)
    const told = run(1)
    told.spend({ ...usage(-5_000, 'x'.repeat(1_000)), outputTokens: 0.5, cacheReadTokens: 1e300 })
    expect(await told.refusal()).toBe(dayBudgetUsedUp)
    expect((await inLog()).map(({ data }) => data)).toEqual([
      { executionId: executionId(1), ...usage(0, 'x'.repeat(200)), outputTokens: 1, cacheReadTokens: 1e12 },
    ])
  })

  test('writes nothing to the log where a day may be of any amount', async () => {
    const free = runner(any).run(1)
    free.spend(usage(1_000_000))
    await free.settled()
    expect(await free.refusal()).toBeUndefined()
    expect(await inLog()).toEqual([])
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
