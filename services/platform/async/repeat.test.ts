import { expect, test } from 'vitest'
import { repeat } from './repeat.ts'

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
