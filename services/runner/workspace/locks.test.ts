import { describe, expect, test } from 'vitest'
import { openLocks } from './locks.ts'

/** A use that ends when it is told to. */
function openUse() {
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { use: () => ended, end }
}

describe('a workspace', () => {
  test('has one user at a time, in the order of asking', async () => {
    const locks = openLocks()
    const told: string[] = []
    const first = openUse()
    const one = locks.hold('task', async () => {
      told.push('one begins')
      await first.use()
      told.push('one ends')
    })
    const two = locks.hold('task', async () => told.push('two'))
    const three = locks.hold('task', async () => told.push('three'))
    const other = locks.hold('another', async () => told.push('another'))
    await other
    first.end()
    await Promise.all([one, two, three])
    expect(told).toEqual(['one begins', 'another', 'one ends', 'two', 'three'])
  })

  test('that somebody has is not had by who does not wait', async () => {
    const locks = openLocks()
    const first = openUse()
    const one = locks.hold('task', first.use)
    expect(await locks.holdIfFree('task', async () => 'had')).toBeUndefined()
    first.end()
    await one
    await expect.poll(() => locks.holdIfFree('task', async () => 'had')).toBe('had')
  })

  test('is free again after a fault', async () => {
    const locks = openLocks()
    await expect(locks.hold('task', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await locks.hold('task', async () => 'had')).toBe('had')
  })

  test('is not let go by who gives up waiting', async () => {
    const locks = openLocks()
    const told: string[] = []
    const first = openUse()
    const one = locks.hold('task', first.use).then(() => told.push('one'))
    const giveUp = new AbortController()
    const two = locks.hold('task', async () => told.push('two'), giveUp.signal)
    giveUp.abort(new Error('given up'))
    await expect(two).rejects.toThrow('given up')
    const three = locks.hold('task', async () => told.push('three'))
    expect(await locks.holdIfFree('task', async () => 'had')).toBeUndefined()
    first.end()
    await Promise.all([one, three])
    expect(told).toEqual(['one', 'three'])
  })
})
