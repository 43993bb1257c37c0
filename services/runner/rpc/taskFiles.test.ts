import { expect, test } from 'vitest'
import { inTurns } from './taskFiles.ts'

test('files are not read when nobody waits for them any more', async () => {
  let now = 0
  const read: string[] = []
  const inTurn = inTurns(() => now)
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => void (end = resolve))
  const busy = ['one', 'two', 'three', 'four'].map((name) =>
    inTurn(
      name,
      async () => {
        read.push(name)
        await ended
      },
      0,
    ),
  )
  const late = inTurn('five', async () => read.push('late'), 0)
  const inTime = inTurn('six', async () => read.push('in time'), 10_000)
  now = 15_000
  end()
  await Promise.all(busy)
  expect(await late).toBeUndefined()
  expect(await inTime).toBe(5)
  expect(read).toEqual(['one', 'two', 'three', 'four', 'in time'])
})
