import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { rounds, repeat } from './rounds.ts'

/** Rounds of work, each of which lasts until the test ends it. */
function controlled() {
  const ends: (() => void)[] = []
  const made = rounds(() => new Promise((end) => ends.push(end)))
  onTestFinished(async () => {
    const stopped = made.stop()
    for (const end of ends) end()
    await stopped
  })
  return { ...made, ends }
}

test('asked for many times during a round, there is one more', async () => {
  const { within, ends } = controlled()
  within(0)
  await expect.poll(() => ends.length).toBe(1)
  for (let index = 0; index < 100; index += 1) within(0)
  await pause(5)
  expect(ends).toHaveLength(1)
  ends[0]?.()
  await expect.poll(() => ends.length).toBe(2)
  ends[1]?.()
  await pause(5)
  expect(ends).toHaveLength(2)
})

test('a round that is due sooner is not put off', async () => {
  const { within, ends } = controlled()
  within(1)
  for (let index = 0; index < 100; index += 1) within(3_600_000)
  await expect.poll(() => ends.length).toBe(1)
})

test('one that is asked for sooner begins sooner, also after a round that is under way', async () => {
  const { within, ends } = controlled()
  within(3_600_000)
  within(0)
  await expect.poll(() => ends.length).toBe(1)
  within(3_600_000)
  within(0)
  ends[0]?.()
  await expect.poll(() => ends.length).toBe(2)
})

test('a round that is due in more days than a timer can wait for begins then, and not at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { within, ends } = controlled()
  within(20_736_000_000)
  await vi.advanceTimersByTimeAsync(20_735_999_000)
  expect(ends).toHaveLength(0)
  await vi.advanceTimersByTimeAsync(1_001)
  expect(ends).toHaveLength(1)
})

test('once stopped, the round under way ends and no other begins', async () => {
  const { within, stop, ends } = controlled()
  within(0)
  await expect.poll(() => ends.length).toBe(1)
  within(0)
  const stopped = stop()
  ends[0]?.()
  await stopped
  within(0)
  await pause(5)
  expect(ends).toHaveLength(1)
})

test('does the work at once, and again after the pause that it returns', async () => {
  const pauses = [1, 5, 3_600_000]
  let count = 0
  const repeated = repeat(async () => pauses[count++] ?? 3_600_000)
  expect(count).toBe(1)
  await expect.poll(() => count).toBe(3)
  await repeated.stop()
  expect(count).toBe(3)
})

test('stopping ends the pause, tells the work, and waits for it', async () => {
  const ended: boolean[] = []
  const repeated = repeat(
    (signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          ended.push(signal.aborted)
          setTimeout(resolve, 5, 0)
        })
      }),
  )
  await repeated.stop()
  expect(ended).toEqual([true])
})
