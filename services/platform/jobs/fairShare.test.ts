import { describe, expect, test } from 'vitest'
import { fairShare, placesOfOne } from './fairShare.ts'

test.each([
  [1, 1],
  [2, 1],
  [4, 3],
  [8, 6],
  [20, 15],
])('of %i places one person may have %i', (concurrency, most) => {
  expect(placesOfOne(concurrency)).toBe(most)
})

/** A queue with a single order, like JetStream: a job that was put back comes before all new jobs once its delay is over. */
function queueOf(persons: readonly string[]) {
  const fresh = persons.map((person, n) => ({ id: `${n}`, person }))
  const back: { id: string; person: string; due: number }[] = []
  let offers = 0
  return {
    offers: () => offers,
    /** Offers jobs until one is taken. Returns the person of that job, and the time. */
    next(share: ReturnType<typeof fairShare>, from: number) {
      for (let now = from; now < from + 10_000; now += 1) {
        const due = back.findIndex((job) => job.due <= now)
        const job = due >= 0 ? back.splice(due, 1)[0] : fresh.shift()
        if (!job) continue
        offers += 1
        const verdict = share.offered(job, fresh.length, now)
        if (verdict.kind === 'take') return { person: job.person, now }
        back.push({ ...job, due: now + verdict.delayMs })
      }
      throw new Error('Nothing was taken')
    },
  }
}

describe('finding 15: over a queue of one order', () => {
  // Holds findings 1.53.
  test('with one place, whoever was served longest ago is next', () => {
    const share = fairShare(1)
    const queue = queueOf([...Array<string>(50).fill('ada'), 'grace', 'grace', 'alan'])
    const order: string[] = []
    for (let now = 0; order.length < 7;) {
      const taken = queue.next(share, now)
      order.push(taken.person)
      share.ended(taken.person)
      now = taken.now + 1_000
      share.asksAgain(now)
    }
    expect(order).toEqual(['ada', 'grace', 'alan', 'ada', 'grace', 'ada', 'ada'])
  })

  test('who is alone waits for nobody', () => {
    const share = fairShare(8)
    const queue = queueOf(['ada'])
    expect(queue.next(share, 0).now).toBe(0)
    share.ended('ada')
    expect(queueOf(['ada']).next(share, 5).now).toBe(5)
  })

  // Holds findings 1.54.
  test.each([250, 3_000])(
    'of somebody who has their share ten jobs a second are looked at, however many wait, and a free place is taken at once: %i',
    (waiting) => {
      const share = fairShare(2)
      const queue = queueOf(Array<string>(waiting).fill('ada'))
      const first = queue.next(share, 0)
      expect(() => queue.next(share, first.now)).toThrow('Nothing was taken')
      const before = queue.offers()
      expect(() => queue.next(share, 20_000)).toThrow('Nothing was taken')
      expect(queue.offers() - before).toBeLessThan(220)
      // Every job was offered by now. After a long pause, the waiting jobs are not offered all at once, but ten a second.
      const minute = queue.offers()
      share.asksAgain(90_000)
      expect(() => queue.next(share, 90_000)).toThrow('Nothing was taken')
      expect(queue.offers() - minute).toBeLessThan(720)
      share.ended('ada')
      share.asksAgain(100_000)
      expect(queue.next(share, 100_000).now).toBeLessThan(101_000)
    },
  )

  test('nobody waits for what another worker has taken', () => {
    const share = fairShare(1)
    share.offered({ id: '1', person: 'ada' }, 0, 0)
    // Each of the three people is served once, Ada first.
    share.ended('ada')
    share.offered({ id: '2', person: 'grace' }, 0, 10)
    expect(share.offered({ id: '3', person: 'alan' }, 0, 20).kind).toBe('take')
    share.ended('grace')
    share.ended('alan')
    expect(share.offered({ id: '4', person: 'ada' }, 5, 30).kind).toBe('put_back')
    expect(share.offered({ id: '5', person: 'grace' }, 0, 40).kind).toBe('put_back')
    // Ada's job was not offered here again, so another worker has taken it, and Grace need not wait for Ada any more.
    expect(share.offered({ id: '5', person: 'grace' }, 0, 5_000).kind).toBe('take')
  })
})
