/** When the workspace of a run counts as ready. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { recordedAndReady } from './claimedExecution.ts'
import { Evicted } from './failure.ts'

test('a run whose record is refused ends only when its workspace is no longer being filled', async () => {
  let filled = () => {}
  let isOver = false
  const refused = Promise.reject(new Evicted('Another runner has it.'))
  refused.catch(() => undefined)
  const filling = new Promise<undefined>((resolve) => (filled = () => resolve(undefined)))
  const ready = recordedAndReady(refused, filling)
  ready.catch(() => (isOver = true))
  await nextTurn()
  expect(isOver).toBe(false)
  filled()
  await expect(ready).rejects.toThrow(Evicted)
})

test('a workspace is ready once it is filled and recorded, and a failed setup is its outcome', async () => {
  expect(await recordedAndReady(Promise.resolve(), Promise.resolve(undefined))).toBeUndefined()
  const unready = { kind: 'cancelled' } as const
  expect(await recordedAndReady(Promise.resolve(), Promise.resolve(unready))).toEqual(unready)
})
