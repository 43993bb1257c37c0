import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { limitConcurrency, limitPerPerson, serialize, serializeByKey } from './queue.ts'
import { backOff, retry } from './retry.ts'
import { within, withinOr } from './timeLimit.ts'

/** Work that adds `name` to `began` when it starts, and ends when the test calls `end` or `fail`. */
function controlled(began: string[], name: string) {
  let end = (): void => undefined
  let fail = (_fault: Error): void => undefined
  const done = new Promise<string>((resolve, reject) => {
    end = () => resolve(name)
    fail = reject
  })
  const work = () => {
    began.push(name)
    return done
  }
  return { work, end, fail: (fault: Error) => fail(fault) }
}

const turn = () => pause(0)

describe('a queue', () => {
  test('runs one at a time, in order, also after one that failed', async () => {
    const began: string[] = []
    const queue = serialize()
    const [a, b] = [controlled(began, 'a'), controlled(began, 'b')]
    const first = queue(a.work)
    const second = queue(b.work)
    await turn()
    expect(began).toEqual(['a'])
    a.fail(new Error('no'))
    await expect(first).rejects.toThrow('no')
    b.end()
    expect(await second).toBe('b')
    expect(began).toEqual(['a', 'b'])
  })

  test('by key runs different keys beside each other', async () => {
    const began: string[] = []
    const queue = serializeByKey()
    const [a, b, c] = [controlled(began, 'a'), controlled(began, 'b'), controlled(began, 'c')]
    const all = [queue('x', a.work), queue('x', b.work), queue('y', c.work)]
    await turn()
    expect(began).toEqual(['a', 'c'])
    a.end()
    await turn()
    expect(began).toEqual(['a', 'c', 'b'])
    b.end()
    c.end()
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c'])
  })

  test('with a limit runs so many at once, and refuses whom the caller refuses', async () => {
    const began: string[] = []
    const limited = limitConcurrency(2, (waiting) => {
      if (waiting >= 1) throw new Error('full')
    })
    const works = ['a', 'b', 'c'].map((name) => controlled(began, name))
    const all = works.map(({ work }) => limited(work))
    await expect(limited(async () => 'd')).rejects.toThrow('full')
    await turn()
    expect(began).toEqual(['a', 'b'])
    works[0]?.end()
    await turn()
    expect(began).toEqual(['a', 'b', 'c'])
    for (const { end } of works) end()
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c'])
  })

  test('gives one person half of its places, and lets others overtake who waits for more', async () => {
    const began: string[] = []
    const limited = limitPerPerson(4, 1)
    const works = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => controlled(began, name))
    const all = works.map(({ work }, at) => limited(at === 4 ? 'b' : 'a', work))
    expect(await all[3]).toBeUndefined()
    expect(began).toEqual(['a1', 'a2', 'b1'])
    works[0]?.fail(new Error('failed'))
    await expect(all[0]).rejects.toThrow('failed')
    await turn()
    expect(began).toEqual(['a1', 'a2', 'b1', 'a3'])
    for (const { end } of works) end()
    await Promise.all(all.slice(1))
    expect(await limited('a', async () => 'again')).toBe('again')
  })

  test('skips what waited for too long since it was asked for, and goes on with the next', async () => {
    let time = 0
    const began: string[] = []
    const limited = limitPerPerson(2, 2, { waitMs: 10, now: () => time })
    const work = (name: string) => controlled(began, name)
    const [running, following] = [work('first'), work('next')]
    const first = limited('a', running.work)
    const late = limited('a', work('late').work)
    time = 5
    const next = limited('a', following.work)
    time = 10
    running.end()
    expect(await first).toBe('first')
    expect(await late).toBeUndefined()
    following.end()
    expect(await next).toBe('next')
    expect(await limited('a', work('older').work, 0)).toBeUndefined()
    expect(began).toEqual(['first', 'next'])
  })

  test('refuses at once who has no place where nobody may wait', async () => {
    const limited = limitPerPerson(2)
    const first = controlled([], 'first')
    const running = limited('a', first.work)
    expect(await limited('a', async () => 'second')).toBeUndefined()
    expect(await limited('b', async () => 'other')).toBe('other')
    first.end()
    expect(await running).toBe('first')
  })
})

describe('a time limit', () => {
  const never = new Promise<string>(() => undefined)
  test('passes on what comes in time', async () => {
    expect(await within(10_000, Promise.resolve('a'), () => new Error('late'))).toBe('a')
    await expect(within(10_000, Promise.reject(new Error('no')), () => new Error('late'))).rejects.toThrow(
      'no',
    )
    expect(await withinOr(10_000, Promise.resolve('a'), null)).toBe('a')
  })

  test('ends what does not come in time', async () => {
    await expect(within(1, never, () => new Error('late'))).rejects.toThrow('late')
    expect(await withinOr(1, never, null)).toBe(null)
  })
})

describe('a retry', () => {
  const failing = (faults: string[]) => async () => {
    const fault = faults.shift()
    if (fault !== undefined) throw new Error(fault)
    return 'done'
  }
  const isTransient = (fault: unknown) => fault instanceof Error && fault.message === 'away'

  test('goes on while the fault is transient and pauses are left', async () => {
    expect(await retry(failing(['away', 'away']), { isTransient, pausesMs: [1, 1] })).toBe('done')
    await expect(retry(failing(['away', 'away']), { isTransient, pausesMs: [1] })).rejects.toThrow('away')
    await expect(retry(failing(['wrong']), { isTransient, pausesMs: [1] })).rejects.toThrow('wrong')
  })

  test('is given up when it is aborted', async () => {
    const stopping = new AbortController()
    const retried = retry(failing(['away']), { isTransient, pausesMs: [60_000], signal: stopping.signal })
    stopping.abort()
    await expect(retried).rejects.toThrow('away')
  })

  test('backs off twice as long each time, up to a longest pause', () => {
    const pauses: number[] = []
    for (const ms of backOff({ firstMs: 100, longestMs: 250, patienceMs: 60_000 })) {
      pauses.push(ms)
      if (pauses.length === 4) break
    }
    expect(pauses).toEqual([100, 200, 250, 250])
    expect([...backOff({ firstMs: 100, longestMs: 250, patienceMs: 0 })]).toEqual([])
  })
})
