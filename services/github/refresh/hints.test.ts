/** When a hint leads to work on its id. */
import { expect, test, onTestFinished } from 'vitest'
import { hints, hintedWork, type HintedWorkOptions } from './hints.ts'

const times = { burstPauseMs: 2, minIntervalMs: 60 }

test('a burst of hints is one reading, which later hints do not put off', () => {
  const hinted = hints(times, 10)
  for (let now = 0; now < 2; now += 1) hinted.add('1', 'soon', now)
  expect(hinted.dueAt()).toBe(2)
  expect(hinted.take(1)).toEqual([])
  expect(hinted.take(2)).toEqual(['1'])
  expect(hinted.dueAt()).toBe(undefined)
})

test('hints that count now and then lead to a reading at most so often; others lead to one soon', () => {
  const hinted = hints(times, 10)
  hinted.add('1', 'now and then', 0)
  expect(hinted.take(2)).toEqual(['1'])
  hinted.add('1', 'now and then', 3)
  hinted.add('2', 'now and then', 3)
  expect(hinted.take(5)).toEqual(['2'])
  expect(hinted.dueAt()).toBe(62)
  hinted.add('1', 'soon', 6)
  expect(hinted.take(8)).toEqual(['1'])
  hinted.add('1', 'now and then', 200)
  expect(hinted.take(202)).toEqual(['1'])
})

test('what could not be read is due again, and there are never more than were allowed', () => {
  const hinted = hints(times, 2)
  for (const id of ['1', '2', '3']) hinted.add(id, 'soon', 0)
  expect(hinted.take(2)).toEqual(['1', '2'])
  expect(['1', '2', '3'].map((id) => hinted.keep(id, 3))).toEqual([true, true, false])
  expect(hinted.dueAt()).toBe(63)
  expect(hinted.take(63)).toEqual(['1', '2'])
})

function started(options: Partial<HintedWorkOptions> & Pick<HintedWorkOptions, 'workOn'>) {
  const work = hintedWork({ times: { burstPauseMs: 1, minIntervalMs: 5 }, max: 2, ...options })
  onTestFinished(() => work.stop())
  return work
}

/** Work on one id at a time, which ends when `letGo` is called. */
function held() {
  const begun: string[] = []
  let letGo: () => void = () => undefined
  return {
    begun,
    letGo: () => letGo(),
    workOn: async (id: string) => {
      begun.push(id)
      await new Promise<void>((resolve) => void (letGo = resolve))
      return 'done' as const
    },
  }
}

test('of more than there is room for, each is worked on', async () => {
  const done: string[] = []
  const work = started({ workOn: async (id) => (done.push(id), 'done') })
  const ids = Array.from({ length: 50 }, (_, n) => `${n}`)
  for (const id of ids) expect(await work.add(id, 'soon')).toBe(true)
  await expect.poll(() => done).toEqual(ids)
})

test('whoever adds waits for room, which those that are worked on take as well', async () => {
  const { begun, letGo, workOn } = held()
  const work = started({ workOn })
  await work.add('a', 'soon')
  await work.add('b', 'soon')
  let isAdded = false
  const third = work.add('c', 'soon').then(() => (isAdded = true))
  await expect.poll(() => begun).toEqual(['a'])
  expect(isAdded).toBe(false)
  letGo()
  await third
  for (const count of [2, 3]) {
    await expect.poll(() => begun.length).toBe(count)
    letGo()
  }
  expect(begun).toEqual(['a', 'b', 'c'])
})

test('what has to wait is worked on again, and it is idle only then', async () => {
  const done: string[] = []
  const work = started({ workOn: async (id) => (done.push(id), done.length < 3 ? 'later' : 'done') })
  expect(work.isIdle()).toBe(true)
  await work.add('a', 'soon')
  expect(work.isIdle()).toBe(false)
  await expect.poll(() => work.isIdle()).toBe(true)
  expect(done).toEqual(['a', 'a', 'a'])
  await work.stop()
  expect(work.isIdle()).toBe(false)
})

test('once it is stopped it takes nothing, and whoever waits for room is told so', async () => {
  const { begun, letGo, workOn } = held()
  const work = started({ workOn, max: 1 })
  await work.add('a', 'soon')
  await expect.poll(() => begun).toEqual(['a'])
  const second = work.add('b', 'soon')
  const stopped = work.stop()
  expect(await second).toBe(false)
  letGo()
  await stopped
  expect(await work.add('c', 'soon')).toBe(false)
  expect(begun).toEqual(['a'])
})
