/** What every work queue must do. Kinds and ids have fresh names, so a queue that already contains jobs can be used. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { LeaseLost } from '#platform/ports/faults.ts'
import type { Delivery, Job, Jobs } from '#platform/ports/jobs.ts'

export interface OpenJobs {
  readonly jobs: Jobs
  /** Closes the queue and opens another one on the same data. */
  readonly reopen: () => Promise<Jobs>
  readonly close: () => Promise<void>
}

export function jobsContract(name: string, open: () => Promise<OpenJobs>): void {
  describe(`jobs: ${name}`, () => {
    let opened: OpenJobs
    let jobs: Jobs
    let kind: string
    beforeEach(async () => {
      opened = await open()
      jobs = opened.jobs
      kind = `kind-${randomUUID()}`
    })
    afterEach(() => opened.close())

    const job = (): Job => ({ id: randomUUID(), kind, payload: { taskId: 't1', text: 'naïve 👩‍💻 "' } })
    const patient = { concurrency: 1, leaseMs: 60_000 }
    /** Takes jobs, and lets the test decide what happens to each. */
    function receiving(options: { concurrency: number; leaseMs: number }): Delivery[] {
      const deliveries: Delivery[] = []
      jobs.work(kind, options, async (delivery) => {
        deliveries.push(delivery)
      })
      return deliveries
    }
    /** Takes jobs one at a time, and never finishes the first one. */
    function hanging(leaseMs: number): Delivery[] {
      const deliveries: Delivery[] = []
      jobs.work(kind, { concurrency: 1, leaseMs }, (delivery) => {
        deliveries.push(delivery)
        return new Promise(() => {})
      })
      return deliveries
    }

    test('a job is given to a worker that already waits, whole, and is gone once it is acknowledged', async () => {
      const deliveries = receiving(patient)
      await pause(20)
      const put = job()
      await jobs.put(put)
      await vi.waitFor(() => expect(deliveries).toHaveLength(1))
      expect(deliveries[0]?.job).toEqual(put)
      expect(deliveries[0]?.attempt).toBe(1)
      expect(await jobs.pending(kind)).toBe(1)
      await deliveries[0]?.ack()
      expect(await jobs.pending(kind)).toBe(0)
    })

    test('a worker that comes later finds what was queued', async () => {
      const put = [job(), job(), job()]
      for (const each of put) await jobs.put(each)
      const done: string[] = []
      jobs.work(kind, patient, async (delivery) => {
        done.push(delivery.job.id)
        await delivery.ack()
      })
      await vi.waitFor(() => expect(done.toSorted()).toEqual(put.map(({ id }) => id).toSorted()))
    })

    test('an id that is put again is queued once: while it waits, while it runs, and when it is done', async () => {
      const put = job()
      await jobs.put(put)
      await jobs.put(put)
      expect(await jobs.pending(kind)).toBe(1)
      const deliveries = receiving({ concurrency: 3, leaseMs: 60_000 })
      await vi.waitFor(() => expect(deliveries).toHaveLength(1))
      await jobs.put(put)
      await deliveries[0]?.ack()
      await jobs.put(put)
      expect(await jobs.pending(kind)).toBe(0)
      await pause(50)
      expect(deliveries).toHaveLength(1)
    })

    test('finding 15: one person has not all places, so that another who comes later need not wait', async () => {
      const of = (person: string): Job => ({ ...job(), person })
      const [ada, grace] = [Array.from({ length: 6 }, () => of('ada')), of('grace')]
      for (const each of ada) await jobs.put(each)
      const running: Delivery[] = []
      jobs.work(kind, { concurrency: 4, leaseMs: 60_000 }, (delivery) => {
        running.push(delivery)
        return new Promise(() => {})
      })
      await vi.waitFor(() => expect(running).toHaveLength(3))
      await jobs.put(grace)
      await vi.waitFor(() => expect(running.map(({ job }) => job)).toContainEqual(grace))
      expect(running.map(({ job }) => job.person)).toEqual(['ada', 'ada', 'ada', 'grace'])
    })

    test('finding 15: what waited for its person’s place comes when one is free, and nothing is lost', async () => {
      const put = Array.from({ length: 7 }, (_, n) => ({ ...job(), person: n < 5 ? 'ada' : 'grace' }))
      for (const each of put) await jobs.put(each)
      const done: string[] = []
      jobs.work(kind, { concurrency: 2, leaseMs: 60_000 }, async (delivery) => {
        await pause(5)
        done.push(delivery.job.id)
        await delivery.ack()
      })
      await vi.waitFor(() => expect(done.toSorted()).toEqual(put.map(({ id }) => id).toSorted()))
      // The last job is marked as done shortly after its work.
      await expect.poll(() => jobs.pending(kind)).toBe(0)
    })

    test('finding 15: with one place, whoever was served longest ago is next', async () => {
      const order: (string | undefined)[] = []
      let isHeld = true
      jobs.work(kind, { concurrency: 1, leaseMs: 60_000 }, async ({ job, ack }) => {
        order.push(job.person)
        await vi.waitFor(() => expect(isHeld).toBe(false))
        await ack()
      })
      const put = async (person: string) => jobs.put({ ...job(), person })
      for (let count = 0; count < 3; count += 1) await put('ada')
      await vi.waitFor(() => expect(order).toEqual(['ada']))
      for (const person of ['grace', 'grace', 'alan']) await put(person)
      isHeld = false
      await vi.waitFor(async () => expect(await jobs.pending(kind)).toBe(0))
      expect(order).toEqual(['ada', 'grace', 'alan', 'ada', 'grace', 'ada'])
    })

    test('finding 15: a place that is free is taken at once, however much waits of those who have their share', async () => {
      const put = async (person: string) => jobs.put({ ...job(), person })
      await Promise.all(Array.from({ length: 200 }, () => put('ada')))
      const running: Delivery[] = []
      jobs.work(kind, { concurrency: 2, leaseMs: 60_000 }, async (delivery) => {
        running.push(delivery)
        await vi.waitFor(() => expect(ended).toContain(delivery))
        await delivery.ack()
      })
      const ended: Delivery[] = []
      await vi.waitFor(() => expect(running).toHaveLength(1))
      // Each time that her slot is free she gets one more job, and another person gets the other slot.
      for (let turn = 1; turn <= 3; turn += 1) {
        ended.push(...running.slice(-1))
        await vi.waitFor(() => expect(running).toHaveLength(turn + 1))
      }
      await put('grace')
      await vi.waitFor(() => expect(running.at(-1)?.job.person).toBe('grace'))
      ended.push(...running)
    })

    test('a job that waits for a person takes no slot, nor a place of its person, until it goes on', async () => {
      const put = async () => jobs.put({ ...job(), person: 'ada' })
      const running: Delivery[] = []
      const ended: Delivery[] = []
      jobs.work(kind, { concurrency: 2, leaseMs: 60_000 }, async (delivery) => {
        running.push(delivery)
        await vi.waitFor(() => expect(ended).toContain(delivery))
        await delivery.ack()
      })
      for (let count = 0; count < 3; count += 1) await put()
      await vi.waitFor(() => expect(running).toHaveLength(1))
      running[0]?.waits(true)
      await vi.waitFor(() => expect(running).toHaveLength(2))
      running[0]?.waits(false)
      ended.push(...running.slice(1))
      await vi.waitFor(async () => expect(await jobs.pending(kind)).toBe(2))
      expect(running).toHaveLength(2)
      ended.push(...running.slice(0, 1))
      await vi.waitFor(() => expect(running).toHaveLength(3))
      ended.push(...running.slice(2))
      await vi.waitFor(async () => expect(await jobs.pending(kind)).toBe(0))
    })

    test('a job that waited for a person is of its own person again, when it is given back and when it is set aside', async () => {
      const put = { ...job(), person: 'ada' }
      const given: Job[] = []
      jobs.work(kind, { concurrency: 2, leaseMs: 60_000 }, async ({ job: one, waits, nak, reject }) => {
        given.push(one)
        if (given.length > 2) return new Promise(() => {})
        waits(true)
        await (given.length === 1 ? nak(0) : reject(new RangeError('broken')))
      })
      await jobs.put(put)
      await vi.waitFor(async () => expect(await jobs.rejected(kind, 1)).toMatchObject([{ job: put }]))
      expect(await jobs.requeue(put.id)).toBe(true)
      await vi.waitFor(() => expect(given).toEqual([put, put, put]))
      // It takes her place again, so that her other job waits, and the next slot is another person's.
      await jobs.put({ ...job(), person: 'ada' })
      const other = { ...job(), person: 'grace' }
      await jobs.put(other)
      await vi.waitFor(() => expect(given).toEqual([put, put, put, other]))
    })

    test('a delivery that waits for a person takes no slot after a later delivery of its job has ended', async () => {
      const [put, other] = [
        { ...job(), person: 'ada' },
        { ...job(), person: 'ada' },
      ]
      const given: Job[] = []
      jobs.work(kind, { concurrency: 1, leaseMs: 3_000 }, async ({ job: one, waits, nak }) => {
        given.push(one)
        if (given.length === 2) return nak(60_000)
        if (given.length === 1) waits(true)
        return new Promise(() => {})
      })
      await jobs.put(put)
      await vi.waitFor(() => expect(given).toEqual([put, put]))
      await jobs.put(other)
      await vi.waitFor(() => expect(given).toEqual([put, put, other]))
    })

    test('a job that waited for a person is of its own person after a restart', async () => {
      const put = { ...job(), person: 'ada' }
      const before: Job[] = []
      jobs.work(kind, { concurrency: 1, leaseMs: 2_000 }, async ({ job: one, waits }) => {
        waits(true)
        before.push(one)
      })
      await jobs.put(put)
      await vi.waitFor(() => expect(before[0]).toEqual(put))
      jobs = await opened.reopen()
      const [after] = await firstOf(receiving(patient))
      expect(after?.job).toEqual(put)
    })

    test('no more run at once than were asked for, and all are done', async () => {
      let running = 0
      let most = 0
      let done = 0
      for (let count = 0; count < 12; count += 1) await jobs.put(job())
      jobs.work(kind, { concurrency: 3, leaseMs: 60_000 }, async (delivery) => {
        running += 1
        most = Math.max(most, running)
        // The first ones wait for each other, however slowly they come.
        await vi.waitFor(() => expect(most).toBeGreaterThanOrEqual(3))
        await pause(10)
        await delivery.ack()
        running -= 1
        done += 1
      })
      await vi.waitFor(() => expect(done).toBe(12))
      expect(most).toBe(3)
    })

    test('of several workers, each job goes to one', async () => {
      const done: string[] = []
      for (let worker = 0; worker < 4; worker += 1) {
        jobs.work(kind, { concurrency: 2, leaseMs: 60_000 }, async (delivery) => {
          done.push(delivery.job.id)
          await pause(5)
          await delivery.ack()
        })
      }
      const put = Array.from({ length: 40 }, job)
      await Promise.all(put.map((each) => jobs.put(each)))
      await vi.waitFor(async () => expect(await jobs.pending(kind)).toBe(0))
      expect(done.toSorted()).toEqual(put.map(({ id }) => id).toSorted())
    })

    test('a worker gets jobs of its kind only', async () => {
      const deliveries = receiving(patient)
      await jobs.put({ ...job(), kind: `${kind}-another` })
      await jobs.put(job())
      await vi.waitFor(() => expect(deliveries).toHaveLength(1))
      await pause(50)
      expect(deliveries.map((delivery) => delivery.job.kind)).toEqual([kind])
      expect(await jobs.pending(`${kind}-another`)).toBe(1)
    })

    test('a lease that ran out is lost: another worker has the job, and the first one is told', async () => {
      const put = job()
      await jobs.put(put)
      const [first] = await firstOf(hanging(400))
      const [second] = await firstOf(receiving(patient))
      expect(second).toMatchObject({ job: put, attempt: 2 })
      await expect(first?.working()).rejects.toThrow(LeaseLost)
      await first?.ack()
      await first?.nak(0)
      await first?.reject(new Error('too late'))
      expect(await jobs.pending(kind)).toBe(1)
      expect(await jobs.rejected(kind, 10)).toEqual([])
      await second?.working()
      await second?.ack()
      expect(await jobs.pending(kind)).toBe(0)
    })

    test('a lease that is renewed stays', async () => {
      await jobs.put(job())
      const [first] = await firstOf(hanging(3_000))
      const others = receiving(patient)
      for (let count = 0; count < 35; count += 1) {
        await pause(100)
        await first?.working()
      }
      expect(others).toEqual([])
      await first?.ack()
      expect(await jobs.pending(kind)).toBe(0)
    })

    // Clocks measure in fractions, and NATS takes only whole nanoseconds.
    test.each([300, 300.000_000_1])(
      'a job that is given back comes again after %f ms, not before',
      async (delayMs) => {
        const put = job()
        await jobs.put(put)
        const times: number[] = []
        const attempts: number[] = []
        jobs.work(kind, patient, async (delivery) => {
          times.push(performance.now())
          attempts.push(delivery.attempt)
          await (delivery.attempt === 1 ? delivery.nak(delayMs) : delivery.ack())
        })
        await vi.waitFor(() => expect(attempts).toEqual([1, 2]))
        const [first = 0, second = 0] = times
        expect(second - first).toBeGreaterThan(290)
      },
    )

    test('a handler that throws is given the job again after a pause', async () => {
      await jobs.put(job())
      const attempts: number[] = []
      jobs.work(kind, patient, async (delivery) => {
        attempts.push(delivery.attempt)
        if (delivery.attempt < 3) throw new Error('as the test wants it')
        await delivery.ack()
      })
      await vi.waitFor(async () => expect(await jobs.pending(kind)).toBe(0))
      expect(attempts).toEqual([1, 2, 3])
    })

    test('a job that is set aside is kept with what went wrong, without its words, and only comes back when it is asked for', async () => {
      const words = 'what a person wrote'
      const put = [job(), job()]
      const deliveries: Delivery[] = []
      jobs.work(kind, { concurrency: 1, leaseMs: 60_000 }, async (delivery) => {
        deliveries.push(delivery)
        const why = deliveries.length === 1 ? new TypeError(words) : new Fault('not_found', words)
        await (deliveries.length <= 2 ? delivery.reject(why) : delivery.ack())
      })
      for (const each of put) {
        await jobs.put(each)
        await vi.waitFor(async () => expect(await jobs.pending(kind)).toBe(0))
      }
      const [older, newer] = put
      expect(await jobs.rejected(kind, 10)).toEqual([
        { job: newer, reason: expect.stringMatching(/^Fault \(not_found\)(?!.*what a person wrote)/s) },
        { job: older, reason: expect.stringMatching(/^TypeError(?!.*what a person wrote)/s) },
      ])
      expect(await jobs.rejected(kind, 1)).toEqual([
        { job: newer, reason: expect.stringMatching(/^Fault \(not_found\)(?!.*what a person wrote)/s) },
      ])
      await jobs.put(put[0] ?? job())
      expect(await jobs.pending(kind)).toBe(0)

      expect(await jobs.requeue(older?.id ?? '')).toBe(true)
      await vi.waitFor(() => expect(deliveries).toHaveLength(3))
      expect(deliveries[2]).toMatchObject({ job: older, attempt: 1 })
      await vi.waitFor(async () => expect(await jobs.pending(kind)).toBe(0))
      expect(await jobs.requeue(older?.id ?? '')).toBe(false)
      expect(await jobs.requeue(randomUUID())).toBe(false)
      expect(await jobs.rejected(kind, 10)).toEqual([
        { job: newer, reason: expect.stringMatching(/^Fault \(not_found\)(?!.*what a person wrote)/s) },
      ])
    })

    test('a stopped worker gets nothing more, and stop waits for what runs', async () => {
      const steps: string[] = []
      const worker = jobs.work(kind, patient, async (delivery) => {
        steps.push('begins')
        await pause(50)
        await delivery.ack()
        steps.push('ends')
      })
      await jobs.put(job())
      await vi.waitFor(() => expect(steps).toEqual(['begins']))
      await worker.stop()
      expect(steps).toEqual(['begins', 'ends'])
      await jobs.put(job())
      await pause(50)
      expect(steps).toEqual(['begins', 'ends'])
      expect(await jobs.pending(kind)).toBe(1)
    })

    test('it says where a job stands, and keeps the latest mark of a name', async () => {
      const [waits, runs, done, aside] = [job(), job(), job(), job()]
      expect(await jobs.stateOf(waits.id)).toBeUndefined()
      const worker = jobs.work(kind, { concurrency: 3, leaseMs: 60_000 }, async (delivery) => {
        if (delivery.job.id === done.id) await delivery.ack()
        if (delivery.job.id === aside.id) await delivery.reject(new RangeError('broken'))
      })
      for (const each of [done, aside, runs]) await jobs.put(each)
      await vi.waitFor(async () => expect(await jobs.stateOf(runs.id)).toBe('leased'))
      await vi.waitFor(async () => expect(await jobs.pending(kind)).toBe(1))
      await worker.stop()
      await jobs.put(waits)
      const standings = [waits, runs, done, aside].map(({ id }) => jobs.stateOf(id))
      expect(await Promise.all(standings)).toEqual(['queued', 'leased', 'done', 'rejected'])
      const name = randomUUID()
      expect(await jobs.marked(name)).toBeNull()
      for (const position of ['7', '12345678901234567890']) await jobs.mark(name, position)
      expect(await jobs.marked(name)).toBe('12345678901234567890')
      jobs = await opened.reopen()
      expect(await jobs.marked(name)).toBe('12345678901234567890')
    })

    test('what was queued, leased, done or set aside is so after a restart', async () => {
      const queued = job()
      const done = job()
      const aside = job()
      const leased = job()
      const worker = jobs.work(kind, { concurrency: 3, leaseMs: 2_000 }, async (delivery) => {
        if (delivery.job.id === done.id) await delivery.ack()
        if (delivery.job.id === aside.id) await delivery.reject(new RangeError('broken'))
      })
      for (const each of [done, aside, leased]) await jobs.put(each)
      await vi.waitFor(async () => expect(await jobs.stateOf(leased.id)).toBe('leased'))
      await vi.waitFor(async () => expect(await jobs.pending(kind)).toBe(1))
      await worker.stop()
      await jobs.put(queued)

      jobs = await opened.reopen()
      await jobs.ready()
      await jobs.put(done)
      const seen: Record<string, number> = {}
      jobs.work(kind, { concurrency: 3, leaseMs: 60_000 }, async (delivery) => {
        seen[delivery.job.id] = delivery.attempt
        await delivery.ack()
      })
      await vi.waitFor(async () => expect(await jobs.pending(kind)).toBe(0))
      expect(seen).toEqual({ [queued.id]: 1, [leased.id]: 2 })
      expect(await jobs.rejected(kind, 10)).toEqual([
        { job: aside, reason: expect.stringMatching(/^RangeError/) },
      ])
    })
  })
}

async function firstOf(deliveries: readonly Delivery[]): Promise<readonly Delivery[]> {
  await vi.waitFor(() => expect(deliveries).toHaveLength(1))
  return deliveries
}
