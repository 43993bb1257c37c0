/** Where a runner believes that tasks run: it concludes nothing from the absence of messages that it could not have received yet. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { BusMessages } from '#platform/ports/bus.ts'
import { hearingBus, type HearingBus } from '../../../tests/hearingBus.ts'
import { startRunnerPresence, type RunnerPresence } from './runnerPresence.ts'

const [job, otherJob] = ['job-1', 'job-2']
let bus: HearingBus
let presence: RunnerPresence
beforeEach(() => {
  vi.useFakeTimers()
  bus = hearingBus()
  agents = []
  presence = started('me')
})
afterEach(() => {
  presence.stop()
  vi.useRealTimers()
})

const claude: BusMessages['runner']['agents'][number] = {
  name: 'claude',
  installed: true,
  version: '1',
  missing: null,
  keyInSandbox: false,
  models: [],
}
let agents: BusMessages['runner']['agents'] = []
const started = (runnerId: string) =>
  startRunnerPresence({ bus, runnerId, notices: ['A sentence.'], agents: () => agents, isAlone: false })
const pass = (ms: number) => vi.advanceTimersByTime(ms)
const said = (by: string): readonly BusMessages['runner'][] =>
  bus.said('runner').filter(({ runnerId }) => runnerId === by)
const other = (...jobs: string[]) =>
  bus.publish('runner', { runnerId: 'other', notices: [], agents: [], jobs })

describe('a runner tells', () => {
  test('at once and each second who it is, what people should know, and what it runs', () => {
    expect(said('me')).toEqual([{ runnerId: 'me', notices: ['A sentence.'], agents: [], jobs: [] }])
    presence.running.add(job)
    pass(1_000)
    presence.running.add(otherJob)
    pass(1_000)
    presence.running.delete(job)
    pass(1_000)
    expect(said('me').map(({ jobs }) => jobs)).toEqual([[], [job], [job, otherJob], [otherJob]])
  })

  test('which agents it can run, once it knows', () => {
    agents = [claude]
    pass(1_000)
    expect(said('me').map((told) => told.agents)).toEqual([[], [claude]])
  })

  test('that it is leaving, at once and from then on', () => {
    presence.leave()
    pass(1_000)
    expect(said('me').map(({ isLeaving }) => isLeaving)).toEqual([undefined, true, true])
  })

  test('nothing more once it is stopped', () => {
    presence.stop()
    pass(10_000)
    expect(said('me')).toHaveLength(1)
  })
})

describe('a job that was given out before', () => {
  test('runs where this runner itself runs it, at once and however long it has heard nothing', () => {
    presence.running.add(job)
    expect(presence.whereabouts(job)).toBe('running')
    bus.isAway = true
    pass(60_000)
    expect(presence.whereabouts(job)).toBe('running')
  })

  test('runs where another says that it runs it, also before this one has settled', () => {
    other(job)
    expect(presence.whereabouts(job)).toBe('running')
    expect(presence.whereabouts(otherJob)).toBe('unknown')
  })

  test('is known at once by a runner that is alone with its queue', () => {
    const alone = startRunnerPresence({
      bus,
      runnerId: 'alone',
      notices: [],
      agents: () => [],
      isAlone: true,
    })
    alone.running.add(job)
    expect([alone.whereabouts(job), alone.whereabouts(otherJob)]).toEqual(['running', 'nowhere'])
    alone.stop()
  })

  test('is unknown until this runner has heard itself for three seconds, and then nowhere', () => {
    const seen: string[] = []
    for (let second = 0; second <= 4; second += 1) {
      seen.push(presence.whereabouts(job))
      pass(1_000)
    }
    expect(seen).toEqual(['unknown', 'unknown', 'unknown', 'nowhere', 'nowhere'])
  })

  test('is nowhere once the other has ended it', () => {
    pass(3_000)
    other(job)
    expect(presence.whereabouts(job)).toBe('running')
    other()
    expect(presence.whereabouts(job)).toBe('nowhere')
  })

  test('is nowhere once the other was silent for more than three seconds', () => {
    other(job)
    pass(3_000)
    expect(presence.whereabouts(job)).toBe('running')
    pass(1)
    expect(presence.whereabouts(job)).toBe('nowhere')
  })

  test('is where the one says that has it, when several speak', () => {
    pass(3_000)
    bus.publish('runner', { runnerId: 'a', notices: [], agents: [], jobs: [] })
    bus.publish('runner', { runnerId: 'b', notices: [], agents: [], jobs: [job] })
    bus.publish('runner', { runnerId: 'c', notices: [], agents: [], jobs: [otherJob] })
    expect([presence.whereabouts(job), presence.whereabouts(otherJob)]).toEqual(['running', 'running'])
  })
})

describe('when nothing is heard', () => {
  test('the bus was away: what follows is unknown until three seconds after it is back', () => {
    pass(10_000)
    expect(presence.whereabouts(job)).toBe('nowhere')
    bus.isAway = true
    pass(2_001)
    // It no longer hears itself: another may speak, and would not be heard either.
    expect(presence.whereabouts(job)).toBe('unknown')
    pass(20_000)
    bus.isAway = false
    pass(1_000)
    expect(presence.whereabouts(job)).toBe('unknown')
    pass(2_998)
    expect(presence.whereabouts(job)).toBe('unknown')
    pass(2)
    expect(presence.whereabouts(job)).toBe('nowhere')
  })

  test('one beat that is lost is no gap', () => {
    pass(10_500)
    bus.isAway = true
    pass(1_000)
    bus.isAway = false
    expect(presence.whereabouts(job)).toBe('nowhere')
    pass(1_000)
    expect(presence.whereabouts(job)).toBe('nowhere')
  })

  test('this process stood still: what the others said meanwhile is waited for again', () => {
    let now = 0
    presence.stop()
    presence = startRunnerPresence(
      { bus, runnerId: 'me', notices: [], agents: () => [], isAlone: false },
      () => now,
    )
    for (now = 1_000; now <= 5_000; now += 1_000) pass(1_000)
    now = 5_000
    expect(presence.whereabouts(job)).toBe('nowhere')
    // A frozen process: no timer has run, and the clock went on.
    now = 15_000
    expect(presence.whereabouts(job)).toBe('unknown')
    pass(1_000)
    expect(presence.whereabouts(job)).toBe('unknown')
    for (let beat = 0; beat < 3; beat += 1) {
      now += 1_000
      pass(1_000)
    }
    expect(presence.whereabouts(job)).toBe('nowhere')
  })
})

test('two runners on one bus know of each other, and of a third that dies', () => {
  const second = started('second')
  const third = started('third')
  third.running.add(job)
  pass(1_000)
  expect([presence, second].map((each) => each.whereabouts(job))).toEqual(['running', 'running'])
  third.stop()
  pass(2_000)
  expect([presence, second].map((each) => each.whereabouts(job))).toEqual(['running', 'running'])
  pass(2_000)
  expect([presence, second].map((each) => each.whereabouts(job))).toEqual(['nowhere', 'nowhere'])
  second.stop()
})

describe('another runner', () => {
  test('is there while it is heard of, and gone after a silence in which it would have been heard', () => {
    expect(presence.statusOf('other', 3_000)).toBe('unknown')
    other()
    expect(presence.statusOf('other', 3_000)).toBe('there')
    pass(4_000)
    expect(presence.statusOf('other', 3_000)).toBe('gone')
    expect(presence.statusOf('other', 30_000)).toBe('there')
    pass(30_000)
    expect(presence.statusOf('other', 30_000)).toBe('gone')
  })

  test('that leaves is gone for the next jobs of its tasks, and what it still runs is running', () => {
    other(job)
    bus.publish('runner', { runnerId: 'other', isLeaving: true, notices: [], agents: [], jobs: [job] })
    expect(presence.statusOf('other', 30_000)).toBe('gone')
    expect(presence.whereabouts(job)).toBe('running')
    other()
    expect(presence.statusOf('other', 30_000)).toBe('there')
  })

  test('is not taken for gone by one that has not heard itself for as long', () => {
    pass(4_000)
    expect(presence.statusOf('other', 3_000)).toBe('gone')
    expect(presence.statusOf('other', 30_000)).toBe('unknown')
    bus.isAway = true
    pass(60_000)
    bus.isAway = false
    pass(1_000)
    expect(presence.statusOf('other', 3_000)).toBe('unknown')
  })
})
