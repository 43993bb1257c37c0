import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { taskId } from '../../../tests/domain/ids.ts'
import { testPath } from '../../../tests/runner/workspaceScene.ts'
import { openDiskWatch, untilNext } from './diskWatch.ts'
import { taskFolder } from './workspace.ts'

afterEach(() => {
  vi.useRealTimers()
})

test.each([
  ['a quick measurement', 5, 2_000],
  ['one that took its time', 500, 5_000],
  ['one that was starved by what it measures', 6_000, 15_000],
  ['one that was given up after a minute', 60_000, 15_000],
])('finding 5: after %s the next is due in time', (_, tookMs, expected) => {
  expect(untilNext(tookMs)).toBe(expected)
})

test('a measurement that failed is not repeated at once', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  const root = await mkdtemp(join(tmpdir(), 'flightdeck-disk-'))
  await mkdir(taskFolder(root, taskId(1)), { recursive: true })
  const failedAt: number[] = []
  const watch = openDiskWatch({
    root,
    path: testPath,
    limits: { workspace: Number.MAX_SAFE_INTEGER, leastFree: 0 },
    pause: async () => ({ deletedBytes: async () => 0, resume: () => undefined }),
    onCounted: () => {
      throw new Error('It cannot be counted.')
    },
    onFault: () => void failedAt.push(performance.now()),
  })
  const begun = performance.now()
  const unwatch = watch.watch({ taskId: taskId(1), stop: { stop: () => undefined } })
  while (failedAt.length < 2) {
    vi.advanceTimersByTime(100)
    await delay(20)
  }
  unwatch()
  await watch.counted()
  watch.close()
  expect((failedAt[1] ?? 0) - begun).toBeGreaterThanOrEqual(2_000)
  await rm(root, { recursive: true })
})
