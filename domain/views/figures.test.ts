/** What is counted for a task; the sums of all groups add up to the total. */
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { executionId, messageId, projectId, taskId, userId } from '../../tests/domain/ids.ts'
import { recorded } from '../../tests/domain/recorded.ts'
import { lives, logOf } from '../../tests/domain/taskLives.ts'
import type { Payer } from '../agentKeys.ts'
import {
  added,
  figuresSum,
  groupings,
  measures,
  noFigures,
  weekOf,
  weeksOf,
  type Figures,
  type Grouping,
  type Period,
} from '../figures.ts'
import {
  AgentStarted,
  ExecutionCompleted,
  ExecutionFailed,
  ExecutionRequested,
  ExecutionStarted,
  PullRequestObserved,
  PullRequestOpened,
  TaskCreated,
  TaskDeleted,
  UsageRecorded,
  type TaskEvent,
} from '../task/events.ts'
import { figuresRows, figuresView, type FiguresDocument } from './figures.ts'
import type { AnyRecorded } from './view.ts'
import { randomRuns } from '../../tests/longRun.ts'
import { foldView } from '../../tests/domain/fold.ts'

const always: Period = { from: '2000-01-01', to: '2999-12-31' }
const id = taskId(1)

const folded = (log: readonly AnyRecorded[]): readonly FiguresDocument[] => [
  ...foldView(figuresView, new Map(), log).values(),
]
function summed(documents: readonly FiguresDocument[], by: Grouping = 'week', period = always) {
  const sum = figuresSum(by, period)
  for (const document of documents) sum.add({ ...document, days: figuresRows(document) })
  return sum.sums()
}

/** The task's events at the times given. */
const happened = (...events: readonly (readonly [at: string, event: TaskEvent])[]): readonly AnyRecorded[] =>
  events.map(([at, event], revision) => recorded(event, { stream: `task-${id}`, revision, at }))

const created = TaskCreated.of(
  { taskId: id, ownerId: userId(1), projectId: projectId(1), agent: 'claude' },
  { title: 'words', description: 'words', branch: 'main', codexModel: null },
)
const work = (n: number) => ({ executionId: executionId(n), messageId: messageId(n) })
const requested = (n: number, kind: 'turn' | 'command' = 'turn') =>
  ExecutionRequested.of({ ...work(n), kind, reason: 'follow_up', agent: 'claude' })
const started = (n: number, attempt = 1) => ExecutionStarted.of({ ...work(n), attempt, runnerId: 'runner' })
const begun = (n: number, payer?: Payer) =>
  AgentStarted.of({
    executionId: executionId(n),
    agent: 'claude',
    version: '2.1',
    sessionId: 's',
    resumed: false,
    ...(payer !== undefined && { payer }),
  })
const completed = (n: number) => ExecutionCompleted.of({ ...work(n), exitCode: 0, terminal: null })
const failed = (n: number) =>
  ExecutionFailed.of(
    { ...work(n), code: 'internal', exitCode: null, terminal: null, retryAt: null },
    { reason: 'words' },
  )
const opened = PullRequestOpened.of(
  { requestId: 'r' },
  { number: 1, url: 'words', headCommit: 'a'.repeat(40) },
)
const merged = (mergedAt: string) =>
  PullRequestObserved.of(
    { state: 'merged', draft: false, updatedAt: mergedAt, mergedAt },
    { number: 1, nodeId: 'PR_1', repositoryId: 'R_1', headCommit: 'a'.repeat(40), mergedBy: 'ada' },
  )
const used = (n: number, model: string | null, outputTokens: number, costUsd: number) =>
  UsageRecorded.of({
    executionId: executionId(n),
    model,
    inputTokens: 10,
    outputTokens,
    cacheReadTokens: 5,
    cacheWriteTokens: 1,
    costUsd,
  })

describe('a turn', () => {
  const log = happened(
    ['2026-03-01T23:59:00.000Z', created],
    ['2026-03-01T23:59:00.000Z', requested(1)],
    ['2026-03-02T00:00:10.000Z', started(1)],
    // Another runner takes it up again: it has waited no longer for that.
    ['2026-03-02T00:01:00.000Z', started(1, 2)],
    ['2026-03-02T00:01:30.000Z', used(1, 'small', 3, 0.25)],
    ['2026-03-02T00:01:30.000Z', used(1, 'large', 90, 1)],
    ['2026-03-02T00:02:10.000Z', completed(1)],
  )

  test('waits until a runner takes it up, and runs until it ends', () =>
    expect(summed(folded(log)).total).toEqual({
      ...noFigures,
      tasks: 1,
      turns: 1,
      completed: 1,
      waitingMs: 70_000,
      runningMs: 120_000,
      inputTokens: 20,
      outputTokens: 93,
      cacheReadTokens: 10,
      cacheWriteTokens: 2,
      costUsd: 1.25,
      serverCostUsd: 1.25,
    }))

  test('belongs to the day on which it was asked for, and to the model that it used most', () => {
    expect(
      folded(log)[0]?.days.map(({ day, model, turns, costUsd }) => [day, model, turns, costUsd]),
    ).toEqual([
      ['2026-03-01', 'large', 1, 1],
      ['2026-03-01', 'small', 0, 0.25],
    ])
    const { groups } = summed(folded(log), 'model')
    expect(groups.get('large')).toMatchObject({ tasks: 1, turns: 1, completed: 1, outputTokens: 90 })
    expect(groups.get('small')).toMatchObject({ tasks: 0, turns: 0, completed: 0, outputTokens: 3 })
  })

  test('that has not ended is a turn without an outcome, with what it has used so far', () =>
    expect(summed(folded(log.slice(0, 5))).total).toMatchObject({
      turns: 1,
      completed: 0,
      waitingMs: 0,
      runningMs: 0,
      outputTokens: 3,
    }))

  test('that fails before it begins has waited all the time', () => {
    expect(
      summed(
        folded(
          happened(
            ['2026-03-01T00:00:00.000Z', created],
            ['2026-03-01T00:00:00.000Z', requested(1)],
            ['2026-03-01T00:00:05.000Z', failed(1)],
          ),
        ),
      ).total,
    ).toMatchObject({ turns: 1, failed: 1, waitingMs: 5_000, runningMs: 0 })
  })
})

describe('who pays', () => {
  const turn = (n: number, payer: Payer | undefined, costUsd: number) => {
    const at = (second: number) => `2026-03-0${n}T00:00:0${second}.000Z`
    return [
      [at(0), requested(n)],
      [at(1), started(n)],
      [at(2), begun(n, payer)],
      [at(3), used(n, 'opus', 10, costUsd)],
      [at(4), completed(n)],
    ] as const
  }
  const log = happened(
    ['2026-03-01T00:00:00.000Z', created],
    ...turn(1, 'person', 1),
    ...turn(2, 'project', 2),
    ...turn(3, 'server', 4),
    // The scripted model, and events from before there were keys.
    ...turn(4, undefined, 0),
  )

  test('is told apart in the costs, whatever they are grouped by', () => {
    const costs = { costUsd: 7, serverCostUsd: 4, projectCostUsd: 2, personCostUsd: 1 }
    expect(summed(folded(log)).total).toMatchObject(costs)
    expect(summed(folded(log), 'person').groups.get(userId(1))).toMatchObject(costs)
  })

  test('has a group of its own, with tokens too', () => {
    const { groups } = summed(folded(log), 'payer')
    expect([...groups.keys()]).toEqual(['person', 'project', 'server'])
    expect(groups.get('person')).toMatchObject({ tasks: 1, turns: 1, outputTokens: 10, personCostUsd: 1 })
    expect(groups.get('project')).toMatchObject({ tasks: 0, turns: 1, outputTokens: 10, projectCostUsd: 2 })
    expect(groups.get('server')).toMatchObject({ tasks: 0, turns: 2, outputTokens: 20, serverCostUsd: 4 })
  })

  test('is the payer of each attempt, also when another attempt has another one', () => {
    const attempts = happened(
      ['2026-03-01T00:00:00.000Z', created],
      ['2026-03-01T00:00:01.000Z', requested(1)],
      ['2026-03-01T00:00:02.000Z', started(1)],
      ['2026-03-01T00:00:03.000Z', begun(1, 'person')],
      ['2026-03-01T00:00:04.000Z', used(1, 'opus', 10, 5)],
      ['2026-03-01T00:00:05.000Z', started(1, 2)],
      ['2026-03-01T00:00:06.000Z', begun(1, 'server')],
      ['2026-03-01T00:00:07.000Z', used(1, 'opus', 10, 1)],
    )
    const ended = [...attempts, ...happened(['2026-03-01T00:00:08.000Z', completed(1)])]
    for (const log of [attempts, ended])
      expect(summed(folded(log), 'payer').groups.get('person')).toMatchObject({ personCostUsd: 5 })
    expect(summed(folded(ended)).total).toMatchObject({ turns: 1, costUsd: 6, serverCostUsd: 1 })
  })

  test('paid also for what is counted after the end of the turn', () => {
    const late = happened(
      ['2026-03-01T00:00:00.000Z', created],
      ...turn(1, 'person', 1),
      ['2026-03-01T00:00:05.000Z', used(1, 'opus', 10, 8)],
      ['2026-03-01T00:00:06.000Z', opened],
    )
    expect([...summed(folded(late), 'payer').groups]).toEqual([
      ['person', expect.objectContaining({ personCostUsd: 9, outputTokens: 20, pullRequests: 1 })],
    ])
  })
})

test('a command of a person is no turn', () =>
  expect(
    summed(
      folded(
        happened(
          ['2026-03-01T00:00:00.000Z', created],
          ['2026-03-01T00:00:00.000Z', requested(1, 'command')],
          ['2026-03-01T00:00:01.000Z', started(1)],
          ['2026-03-01T00:00:02.000Z', completed(1)],
        ),
      ),
    ).total,
  ).toEqual({ ...noFigures, tasks: 1 }))

test('a deleted task still counts, and so does its pull request', () => {
  const log = happened(
    ['2026-03-01T00:00:00.000Z', created],
    ['2026-03-01T00:00:00.000Z', opened],
    ['2026-03-02T00:00:00.000Z', TaskDeleted.of({})],
  )
  expect(summed(folded(log)).total).toEqual({ ...noFigures, tasks: 1, pullRequests: 1 })
})

test('only days of the period are counted, both ends included', () => {
  const log = happened(['2026-03-01T00:00:00.000Z', created], ['2026-03-08T00:00:00.000Z', requested(1)])
  const turns = (from: string, to: string) => summed(folded(log), 'week', { from, to }).total
  expect(turns('2026-03-01', '2026-03-07')).toMatchObject({ tasks: 1, turns: 0 })
  expect(turns('2026-03-02', '2026-03-08')).toMatchObject({ tasks: 0, turns: 1 })
})

test('a week begins on Monday', () => {
  expect([weekOf('2026-03-01'), weekOf('2026-03-02'), weekOf('2026-03-08')]).toEqual([
    '2026-02-23',
    '2026-03-02',
    '2026-03-02',
  ])
  expect(weeksOf({ from: '2026-02-25', to: '2026-03-09' })).toEqual([
    '2026-02-23',
    '2026-03-02',
    '2026-03-09',
  ])
})

describe('around the end of a week, counted by hand', () => {
  const log = happened(
    // A Thursday, and the first day of a year.
    ['2026-01-01T00:00:00.000Z', created],
    // The last moment of Sunday: all of the turn belongs to that week.
    ['2026-01-04T23:59:59.999Z', requested(1)],
    ['2026-01-05T00:00:01.000Z', started(1)],
    ['2026-01-05T00:00:30.000Z', used(1, 'opus', 100, 0.5)],
    ['2026-01-05T00:01:01.000Z', completed(1)],
    ['2026-01-05T00:01:02.000Z', opened],
    ['2026-01-05T00:01:03.000Z', requested(2)],
    ['2026-01-05T00:01:05.000Z', started(2)],
    ['2026-01-05T00:01:15.000Z', failed(2)],
    // Merged while it was still Sunday, and heard of the next day.
    ['2026-01-05T09:00:00.000Z', merged('2026-01-04T23:59:59Z')],
  )
  const before = {
    ...noFigures,
    tasks: 1,
    turns: 1,
    completed: 1,
    waitingMs: 1_001,
    runningMs: 60_000,
    inputTokens: 10,
    outputTokens: 100,
    cacheReadTokens: 5,
    cacheWriteTokens: 1,
    costUsd: 0.5,
    serverCostUsd: 0.5,
    mergedPullRequests: 1,
  }
  const after = {
    ...noFigures,
    turns: 1,
    failed: 1,
    waitingMs: 2_000,
    runningMs: 10_000,
    pullRequests: 1,
  }

  test.each(['UTC', 'Pacific/Auckland', 'America/Los_Angeles'])('by the clock of a server in %s', (zone) => {
    vi.stubEnv('TZ', zone)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect([...summed(folded(log)).groups]).toEqual([
      ['2025-12-29', before],
      ['2026-01-05', after],
    ])
    for (const [by, key] of [
      ['project', projectId(1)],
      ['person', userId(1)],
      ['agent', 'claude'],
    ] as const)
      expect([...summed(folded(log), by).groups]).toEqual([[key, added(before, after)]])
    // What a turn used no model for belongs to none.
    expect(summed(folded(log), 'model').groups.get('opus')).toMatchObject({ turns: 1, costUsd: 0.5 })
    expect(summed(folded(log), 'model').groups.get(null)).toMatchObject({ turns: 1, failed: 1 })
  })
})

describe('over any life of tasks', () => {
  const over = (check: (log: readonly AnyRecorded[]) => void): void =>
    fc.assert(
      fc.property(fc.tuple(lives(1), lives(2)), ([one, two]) => {
        check([...logOf(one), ...logOf(two)])
      }),
      { numRuns: randomRuns(60) },
    )

  test.each(groupings)('the sums by %s are the sum of all', (by) =>
    over((log) => {
      const { total, groups } = summed(folded(log), by)
      const sum = [...groups.values()].reduce<Figures>(added, noFigures)
      for (const measure of measures) expect(sum[measure]).toBeCloseTo(total[measure], 9)
    }),
  )

  test('every turn, every token and every dollar of the log is counted, once', () =>
    over((log) => {
      const { total } = summed(folded(log))
      const turns = log.filter((event) => event.type === 'ExecutionRequested' && event.data.kind === 'turn')
      const usage = log.flatMap((event) => (event.type === 'UsageRecorded' ? [event.data] : []))
      expect(total.tasks).toBe(log.filter(({ type }) => type === 'TaskCreated').length)
      expect(total.turns).toBe(turns.length)
      expect(total.completed + total.failed + total.cancelled).toBeLessThanOrEqual(total.turns)
      expect(total.outputTokens).toBe(usage.reduce((sum, { outputTokens }) => sum + outputTokens, 0))
      expect(total.costUsd).toBeCloseTo(
        usage.reduce((sum, { costUsd }) => sum + costUsd, 0),
        9,
      )
      expect(total.serverCostUsd + total.projectCostUsd + total.personCostUsd).toBeCloseTo(total.costUsd, 9)
      expect(total.pullRequests).toBe(log.filter(({ type }) => type === 'PullRequestOpened').length)
    }))
})
