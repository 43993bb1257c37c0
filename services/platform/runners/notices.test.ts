/** Notices: what the runners that are there say of themselves, and that none is there. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hearingBus, type HearingBus } from '../../../tests/hearingBus.ts'
import { startNotices, type Notices } from './notices.ts'

const nobody = 'No runner is connected. New tasks will wait.'
let bus: HearingBus
let now: number
let notices: Notices
beforeEach(() => {
  bus = hearingBus()
  now = 1_000_000
  notices = startNotices(bus, () => now)
})
afterEach(() => notices.stop())

const speaks = (runnerId: string, ...sentences: string[]) =>
  bus.publish('runner', { runnerId, notices: sentences, agents: [], jobs: [] })

test('nothing is said before a runner could have spoken, and then that there is none', () => {
  expect(notices.read()).toEqual([])
  now += 5_000
  expect(notices.read()).toEqual([])
  now += 1
  expect(notices.read()).toEqual([nobody])
})

test('what a runner says is told at once, and takes the place of what it said before', () => {
  speaks('a', 'The model is scripted.', 'There is no sandbox.')
  expect(notices.read()).toEqual(['The model is scripted.', 'There is no sandbox.'])
  speaks('a', 'There is no sandbox.')
  expect(notices.read()).toEqual(['There is no sandbox.'])
  speaks('a')
  expect(notices.read()).toEqual([])
})

test('what several say is told once', () => {
  speaks('a', 'The model is scripted.')
  speaks('b', 'There is no sandbox.', 'The model is scripted.')
  expect(notices.read()).toEqual(['The model is scripted.', 'There is no sandbox.'])
})

test('a runner that is silent for more than five seconds is there no more, and the others are', () => {
  speaks('a', 'The model is scripted.')
  now += 3_000
  speaks('b', 'There is no sandbox.')
  now += 2_000
  expect(notices.read()).toEqual(['The model is scripted.', 'There is no sandbox.'])
  now += 1
  expect(notices.read()).toEqual(['There is no sandbox.'])
  now += 3_000
  expect(notices.read()).toEqual([nobody])
})

test('a runner that has nothing to say is there all the same, and one that comes back is heard', () => {
  now += 60_000
  speaks('a')
  expect(notices.read()).toEqual([])
  now += 5_001
  expect(notices.read()).toEqual([nobody])
  speaks('a', 'There is no sandbox.')
  expect(notices.read()).toEqual(['There is no sandbox.'])
})

test('once it is stopped nothing is heard any more', () => {
  notices.stop()
  speaks('a', 'There is no sandbox.')
  expect(notices.read()).toEqual([])
})
