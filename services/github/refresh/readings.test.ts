/** Readings of projects: after hints, and of all projects now and then; they continue where the code host became unavailable. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { recorded } from '../../../tests/domain/recorded.ts'
import { DeliveryReceived } from '#domain/webhookDelivery.ts'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import { logger } from '#platform/log.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { startReadings, type OrderedDocument, type Readings, type Round } from './readings.ts'

const projects: readonly OrderedDocument[] = Array.from({ length: 250 }, (_, n) => ({
  id: `${n}`,
  order: `${n}`.padStart(4, '0'),
}))
const never = 3_600_000
/** A repository that several projects have. */
const shared = 'shared'
const delivered = recorded(
  DeliveryReceived.of(
    { guid: '00000000-0000-4000-8000-000000000001', event: 'issues', action: 'labeled', senderType: 'User' },
    {
      repositoryId: '42',
      installationId: null,
      pullRequest: null,
      issue: null,
      headCommit: null,
      reviewId: null,
      commentId: null,
      checkRunId: null,
      checkSuiteId: null,
      senderId: null,
    },
  ),
  { revision: 0 },
)
const stored: StoredEvent = { ...delivered, content: null }

/** Starts readings of projects. `read` gives the outcome for a project, and a round is over after three outcomes `later`. */
async function started(
  read: (id: string) => 'done' | 'soon' | 'later',
  times: Partial<Readings<OrderedDocument>['times']> = {},
  /** How many projects a delivery about the shared repository concerns; `all`: the delivery concerns all projects. */
  hinted: number | 'all' = 2,
  waitFor: () => Promise<boolean> = async () => true,
) {
  /** The ids of the projects that each round has read. */
  const roundsOf: string[][] = []
  /** The ids of all projects that were read, in order. */
  const reads: string[] = []
  /** The repositories of deliveries that were sent and are not handled yet. */
  const told: string[] = []
  let tell: (events: readonly StoredEvent[], upTo: Position) => Promise<void> = async () => undefined
  const begin = (isStopped: () => boolean): Round<OrderedDocument> => {
    const ids: string[] = []
    roundsOf.push(ids)
    let away = 0
    return {
      isOver: () => isStopped() || away >= 3,
      async read({ id }) {
        ids.push(id)
        reads.push(id)
        const outcome = away >= 3 ? 'later' : read(id)
        away = outcome === 'later' ? away + 1 : 0
        return outcome
      },
    }
  }
  const held = await startReadings<OrderedDocument>(
    {
      eventStore: {
        head: async () => null,
        subscribe: (_from, _batch, hear) => {
          tell = hear
          return { stop: async () => undefined }
        },
      },
      jobs: { mark: async () => undefined, marked: async () => null },
      logIdentity: { logId: 'log', epoch: 1 },
      log: { open: async () => delivered },
      projected: { waitFor },
      logger: logger('silent'),
    },
    {
      times: { firstMs: 0, pollIntervalMs: 20, burstPauseMs: 1, minIntervalMs: 1, ...times },
      failed: 'failed',
      hintOf: () => (hinted === 'all' ? hinted : { repositoryId: told.shift() ?? shared, hint: 'soon' }),
      ofRepository: async (githubRepoId) =>
        githubRepoId === shared
          ? projects.slice(0, hinted === 'all' ? 0 : hinted)
          : projects.filter(({ id }) => id === githubRepoId),
      one: async (id) => projects.find((project) => project.id === id),
      async *pages(limit, after) {
        const left = projects.filter(({ order }) => after === undefined || order > after.value)
        for (let from = 0; from <= left.length; from += limit) yield left.slice(from, from + limit)
      },
      begin,
    },
  )
  onTestFinished(() => held.stop())
  return {
    roundsOf,
    reads,
    /** Sends one delivery for each repository, all at once. A repository other than `shared` has one project, with the same id. */
    hint(repositories: readonly string[] = [shared]) {
      told.push(...repositories)
      return tell(
        repositories.map(() => stored),
        stored.position,
      )
    },
  }
}

const ids = (from: number, to = projects.length - 1) =>
  Array.from({ length: to - from + 1 }, (_, n) => `${from + n}`)

test('all are read, page by page, in one round', async () => {
  const { roundsOf } = await started(() => 'done', { pollIntervalMs: never })
  await expect.poll(() => roundsOf[0]).toEqual(ids(0))
})

test('where the code host went away in a round, the next goes on there, and the one after that begins anew', async () => {
  let isAway = true
  const { roundsOf } = await started((id) => (isAway && Number(id) >= 120 ? 'later' : 'done'))
  await expect.poll(() => roundsOf.length).toBeGreaterThan(1)
  isAway = false
  await expect.poll(() => roundsOf.some((round) => round.at(-1) === '249')).toBe(true)
  const last = roundsOf.findIndex((round) => round.at(-1) === '249')
  await expect.poll(() => roundsOf[last + 1]?.length).toBe(projects.length)
  expect(roundsOf[0]).toEqual(ids(0, 122))
  expect(roundsOf[1]?.[0]).toBe('123')
  expect(roundsOf.slice(0, last + 1).flat()).toEqual(ids(0))
})

test('where one knows of more, it alone is read again soon', async () => {
  const { roundsOf } = await started((id) => (id === '7' && roundsOf.length === 1 ? 'soon' : 'done'), {
    pollIntervalMs: never,
  })
  await expect.poll(() => roundsOf.slice(1).flat()).toEqual(['7'])
})

test('one with much more is read again after the same pause each time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { reads } = await started((id) => (id === '7' ? 'soon' : 'done'), { pollIntervalMs: never })
  const times: number[] = []
  for (let read = 1; read <= 5; read += 1) {
    await vi.advanceTimersToNextTimerAsync()
    times.push(performance.now())
    expect(reads.filter((id) => id === '7')).toHaveLength(read)
  }
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  expect(new Set(pauses).size).toBe(1)
})

test('after a hint, one that could not be read for now is read again alone, and is left to the reading of all then', async () => {
  const { roundsOf, hint } = await started((id) => (id === '1' ? 'later' : 'done'), {
    firstMs: never,
    pollIntervalMs: 30,
    minIntervalMs: 10,
  })
  await hint()
  // The retries come after 10 and 20 ms. There is none after 40 ms, since all projects are read every 30 ms.
  await expect.poll(() => roundsOf.flat()).toEqual(['0', '1', '1', '1'])
})

test('a hint is read between the projects of a reading of all', async () => {
  const hinted: (() => Promise<void>)[] = []
  const { reads, hint } = await started(
    (id) => {
      if (id === '100') void hinted[0]?.()
      return 'done'
    },
    { pollIntervalMs: never, firstMs: 20, burstPauseMs: 0 },
  )
  hinted.push(hint)
  await expect.poll(() => reads.filter((id) => id === '0')).toHaveLength(2)
  await expect.poll(() => reads.length).toBe(projects.length + 2)
  expect(reads.lastIndexOf('0')).toBeLessThan(projects.length)
})

test('projects that were hinted at and cannot be read do not end a reading of all', async () => {
  const hinted: (() => Promise<void>)[] = []
  let isHinted = false
  const { reads, hint } = await started(
    (id) => {
      if (id === '100') {
        isHinted = true
        void hinted[0]?.()
      }
      return isHinted && Number(id) < 5 ? 'later' : 'done'
    },
    { pollIntervalMs: never, firstMs: 20, burstPauseMs: 0, minIntervalMs: never },
    5,
  )
  hinted.push(hint)
  await expect.poll(() => reads.length).toBe(projects.length + 5)
})

test('where an engine was away in a reading of all, the next goes on with the project that it was away for', async () => {
  let isAway = true
  const { roundsOf } = await started((id) => {
    if (isAway && id === '120') throw new EngineUnavailable('The database')
    return 'done'
  })
  await expect.poll(() => roundsOf.length).toBeGreaterThan(1)
  isAway = false
  await expect.poll(() => roundsOf.some((round) => round.at(-1) === '249')).toBe(true)
  expect(roundsOf[0]).toEqual(ids(0, 120))
  expect(roundsOf[1]?.[0]).toBe('120')
})

test('a read model that is behind as a hint comes does not end a reading of all', async () => {
  const hinted: (() => Promise<void>)[] = []
  let isBehind = false
  const { reads, hint } = await started(
    (id) => {
      if (id === '100') {
        isBehind = true
        void hinted[0]?.()
      }
      return 'done'
    },
    { pollIntervalMs: never, firstMs: 20, burstPauseMs: 0, minIntervalMs: never },
    2,
    async () => {
      if (!isBehind) return true
      isBehind = false
      throw new EngineUnavailable('The read model')
    },
  )
  hinted.push(hint)
  await expect.poll(() => reads.at(-1)).toBe('249')
  expect(isBehind).toBe(false)
  expect(reads.slice(0, projects.length)).toEqual(ids(0))
})

test('a project at which an engine always fails keeps none before or behind it from being read', async () => {
  const { reads } = await started((id) => {
    if (id === '120') throw new EngineUnavailable('The database')
    return 'done'
  })
  await expect.poll(() => reads.filter((id) => id === '0').length).toBeGreaterThan(1)
  await expect.poll(() => reads.filter((id) => id === '249').length).toBeGreaterThan(1)
})

test('a repository at which an engine always fails holds up none that is hinted at behind it', async () => {
  const { reads, hint } = await started(
    (id) => {
      if (id === '5') throw new EngineUnavailable('The database')
      return 'done'
    },
    { firstMs: never, pollIntervalMs: never },
  )
  await hint(['5', '6', '7'])
  await expect.poll(() => reads).toContain('7')
  expect(reads.filter((id) => id !== '5')).toEqual(['6', '7'])
})

test('a project at which an engine always fails holds up none of the same repository', async () => {
  const { reads, hint } = await started(
    (id) => {
      if (id === '0') throw new EngineUnavailable('The database')
      return 'done'
    },
    { firstMs: never, pollIntervalMs: never },
  )
  await hint()
  await expect.poll(() => reads).toContain('1')
})

test.each([
  ['in repositories of their own', ['0', '1', '2', '3']],
  ['in one repository', undefined],
])(
  'where an engine is away, the second fault in a row ends the round, and those that were not tried are tried next: %s',
  async (_, repositories) => {
    let isAway = true
    const read: string[] = []
    const { roundsOf, hint } = await started(
      (id) => {
        if (isAway) throw new EngineUnavailable('The database')
        read.push(id)
        return 'done'
      },
      { firstMs: never, pollIntervalMs: never },
      4,
    )
    await hint(repositories)
    await expect.poll(() => new Set(roundsOf.flat()).size).toBe(4)
    isAway = false
    // A round may begin before the last hint has come.
    expect([...new Set(roundsOf.flat())]).toEqual(['0', '1', '2', '3'])
    expect(roundsOf.every(({ length }) => length <= 2)).toBe(true)
    await expect.poll(() => new Set(read).size).toBe(4)
  },
)

test('a reading of all that is asked for while one is under way begins with the first', async () => {
  let isAway = true
  let wanted: () => Promise<void> = async () => undefined
  const { roundsOf, hint } = await started(
    (id) => {
      if (id !== '120' || !isAway) return 'done'
      isAway = false
      void wanted()
      throw new EngineUnavailable('The database')
    },
    { firstMs: 20 },
    'all',
  )
  wanted = hint
  await expect.poll(() => roundsOf[1]?.[0]).toBe('0')
})
