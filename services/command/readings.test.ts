/** Readings of projects: after hints, and of all now and then, which go on where the code host went away. */
import { expect, onTestFinished, test } from 'vitest'
import { logger } from '#platform/log.ts'
import { startReadings, type Placed, type Readings, type Round } from './readings.ts'

const projects: readonly Placed[] = Array.from({ length: 250 }, (_, n) => ({
  id: `${n}`,
  order: `${n}`.padStart(4, '0'),
}))
const never = 3_600_000

/** Reads these projects, each as `read` says; a round is over after three that answer `later`. */
async function started(
  read: (id: string) => 'done' | 'soon' | 'later',
  times: Partial<Readings<Placed>['times']> = {},
) {
  /** The projects of each round. */
  const roundsOf: string[][] = []
  const begin = (isStopped: () => boolean): Round<Placed> => {
    const ids: string[] = []
    roundsOf.push(ids)
    let away = 0
    return {
      isOver: () => isStopped() || away >= 3,
      async read({ id }) {
        ids.push(id)
        const outcome = read(id)
        away = outcome === 'later' ? away + 1 : 0
        return outcome
      },
    }
  }
  const held = await startReadings<Placed>(
    {
      eventStore: {
        head: async () => null,
        subscribe: () => ({ stop: async () => undefined }),
      },
      log: { open: () => Promise.reject(new Error('Nothing is delivered.')) },
      projected: { waitFor: async () => true },
      logger: logger('silent'),
    },
    {
      times: { firstMs: 0, allMs: 20, restMs: 1, againMs: 1, ...times },
      failed: 'failed',
      hintOf: () => undefined,
      ofRepository: async () => [],
      page: async (size, after) =>
        projects.filter(({ order }) => after === undefined || order > after.value).slice(0, size),
      begin,
    },
  )
  onTestFinished(() => held.stop())
  return { roundsOf }
}

const ids = (from: number, to = projects.length - 1) =>
  Array.from({ length: to - from + 1 }, (_, n) => `${from + n}`)

test('all are read, page by page, in one round', async () => {
  const { roundsOf } = await started(() => 'done', { allMs: never })
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

test('where one knows of more, all are read again soon', async () => {
  const { roundsOf } = await started((id) => (id === '7' && roundsOf.length === 1 ? 'soon' : 'done'), {
    allMs: never,
  })
  await expect.poll(() => roundsOf.length, { timeout: 10_000 }).toBe(2)
})
