import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { on, once } from 'node:events'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createInbox, nanos } from 'nats'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openNatsJobs } from '#platform/jobs/nats.ts'
import { openNats, type Nats } from '#platform/bus/natsConnection.ts'
import { EngineUnavailable, LeaseLost } from '#platform/ports/faults.ts'
import type { Delivery, Job, Jobs } from '#platform/ports/jobs.ts'
import { note } from '../report/notes.ts'
import { anyNats, noNats, noOwnNats, ownNats, type AnyNats, type OwnNats } from '../servers/nats.ts'
import { jobsContract } from './jobs.contract.ts'

const onFault = () => {}
const onWaiting = () => {}

/** A server may be there before and after the tests: what they made goes. */
async function removeStreams(nats: Nats, namespace: string): Promise<void> {
  const manager = await nats.connection.jetstreamManager({ checkAPI: false })
  for (const name of ['queue', 'standings', 'rejected', 'marks']) {
    await manager.streams.delete(`${namespace}-jobs-${name}`)
  }
}

describe.skipIf(noNats !== undefined)(`with NATS${noNats === undefined ? '' : ` (${noNats})`}`, () => {
  let server: AnyNats
  beforeAll(async () => {
    server = await anyNats()
    note('jobs: NATS', server.against)
  })
  afterAll(() => server.close())

  jobsContract('NATS', async () => {
    const namespace = `test-${randomUUID()}`
    const nats = await openNats({ url: server.url, onFault, onWaiting })
    const open = () => openNatsJobs({ nats, namespace, onFault, onWaiting })
    let jobs = await open()
    return {
      jobs,
      reopen: async () => {
        await jobs.close()
        jobs = await open()
        return jobs
      },
      close: async () => {
        await jobs.close()
        await removeStreams(nats, namespace)
        await nats.close()
      },
    }
  })

  describe('the NATS jobs', () => {
    let namespace: string
    let nats: Nats
    let jobs: Jobs
    let faults: string[]
    beforeEach(async () => {
      namespace = `test-${randomUUID()}`
      nats = await openNats({ url: server.url, onFault, onWaiting })
      faults = []
      jobs = await openNatsJobs({ nats, namespace, onFault: (what) => faults.push(what), onWaiting })
    })
    afterEach(async () => {
      await jobs.close()
      await removeStreams(nats, namespace)
      await nats.close()
    })
    const job = (id: string, kind = 'run'): Job => ({ id, kind, payload: { of: id } })
    const patient = { concurrency: 1, leaseMs: 60_000 }
    const subjectOf = (stream: string, rest: string) => `${namespace}.jobs.${stream}.${rest}`

    /** Another process that takes jobs of kind `run`. */
    function otherWorker(leaseMs: number) {
      const script = fileURLToPath(new URL('jobs.nats.worker.ts', import.meta.url))
      const argv = ['--import', 'tsx', script, server.url, namespace, 'run', String(leaseMs)]
      const child = spawn(process.execPath, argv, { env: {}, stdio: ['pipe', 'pipe', 'inherit'] })
      const lines = on(createInterface(child.stdout), 'line', { signal: AbortSignal.timeout(15_000) })
      return {
        child,
        says: async (): Promise<unknown> => (await lines.next()).value?.[0],
        tell: (word: string) => child.stdin.write(`${word}\n`),
        end: async () => {
          child.kill('SIGKILL')
          if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
        },
      }
    }

    test('what a killed process had is given to another when its lease runs out', async () => {
      const other = otherWorker(1_500)
      await jobs.put(job('a'))
      expect(await other.says()).toBe('has a')
      await other.end()
      const attempts: number[] = []
      jobs.work('run', patient, async (delivery) => {
        attempts.push(delivery.attempt)
        await delivery.ack()
      })
      await vi.waitFor(() => expect(attempts).toEqual([2]))
    })

    test('a process that stood still is told when it wakes, and can neither keep nor end what another has', async () => {
      const other = otherWorker(500)
      await jobs.put(job('a'))
      expect(await other.says()).toBe('has a')
      other.child.kill('SIGSTOP')
      const held: Delivery[] = []
      jobs.work('run', patient, async (delivery) => {
        held.push(delivery)
      })
      await vi.waitFor(() => expect(held).toHaveLength(1))
      other.child.kill('SIGCONT')
      other.tell('working')
      expect(await other.says()).toBe('LeaseLost')
      other.tell('ack')
      expect(await other.says()).toBe('ok')
      expect(await jobs.pending('run')).toBe(1)
      await held[0]?.working()
      await held[0]?.ack()
      expect(await jobs.pending('run')).toBe(0)
      await other.end()
    })

    test('ids and kinds may have any characters and any length', async () => {
      const names = ['a.b', 'a b', '*', '>', 'naïve 👩‍💻', 'x'.repeat(1_000), '_', '']
      const seen: string[] = []
      for (const name of names) {
        jobs.work(name, patient, async (delivery) => {
          seen.push(delivery.job.kind)
          await (delivery.job.id.startsWith('aside')
            ? delivery.reject(new RangeError('aside'))
            : delivery.ack())
        })
        await jobs.put(job(`id ${name}`, name))
        await jobs.put(job(`aside ${name}`, name))
      }
      await vi.waitFor(() => expect(seen.toSorted()).toEqual([...names, ...names].toSorted()))
      for (const name of names) {
        await vi.waitFor(async () =>
          expect(await jobs.rejected(name, 10)).toEqual([
            { job: job(`aside ${name}`, name), reason: expect.stringMatching(/^RangeError/) },
          ]),
        )
      }
    })

    test('a job larger than a message of the server is refused, and nothing of it stays', async () => {
      const large = { ...job('a'), payload: { text: 'a'.repeat(2_000_000) } }
      await expect(jobs.put(large)).rejects.toThrow(RangeError)
      expect(await jobs.pending('run')).toBe(0)
      await jobs.put(job('a'))
      expect(await jobs.pending('run')).toBe(1)
    })

    test('a job that was done is not given again, though its message came to the queue once more', async () => {
      const seen: string[] = []
      jobs.work('run', patient, async (delivery) => {
        seen.push(delivery.job.id)
        await delivery.ack()
      })
      await jobs.put(job('a'))
      await vi.waitFor(async () => expect(await jobs.pending('run')).toBe(0))
      await nats.connection.jetstream().publish(subjectOf('queue', 'run.a'), JSON.stringify(job('a')))
      await jobs.put(job('b'))
      await vi.waitFor(() => expect(seen).toContain('b'))
      await vi.waitFor(async () => expect(await jobs.pending('run')).toBe(0))
      expect(seen).toEqual(['a', 'b'])
    })

    test('a job whose putting was cut off half way is queued by the next putting of it', async () => {
      const queued = { state: 'queued', attempt: 0, delivered: 0, claim: '' }
      await nats.connection.jetstream().publish(subjectOf('standings', 'a'), JSON.stringify(queued))
      expect(await jobs.pending('run')).toBe(0)
      await jobs.put(job('a'))
      expect(await jobs.pending('run')).toBe(1)
    })

    test('a job whose message is lost is queued again by the next putting of it, whether it waited or was held', async () => {
      const given: string[] = []
      const lost: string[] = []
      jobs.work('run', { ...patient, leaseMs: 2_000 }, async (delivery) => {
        given.push(`${delivery.job.id} ${delivery.attempt}`)
        if (delivery.attempt > 1 || delivery.job.id === 'b') return delivery.ack()
        await delivery.working().catch(() => lost.push(delivery.job.id))
        while (lost.length === 0) {
          await pause(100)
          await delivery.working().catch(() => lost.push(delivery.job.id))
        }
      })
      await jobs.put(job('a'))
      await vi.waitFor(() => expect(given).toEqual(['a 1']))
      await jobs.put(job('b'))
      const streams = (await nats.connection.jetstreamManager()).streams
      expect(await streams.delete(`${namespace}-jobs-queue`)).toBe(true)
      for (const id of ['a', 'b']) await jobs.put(job(id))
      await vi.waitFor(() => expect(given.toSorted()).toEqual(['a 1', 'a 2', 'b 1']))
      expect(lost).toEqual(['a'])
      // One that is there is not queued twice.
      await jobs.put(job('c'))
      await jobs.put(job('c'))
      await vi.waitFor(async () => expect(await jobs.stateOf('c')).toBe('done'))
    }, 60_000)

    test('a mark is lost with the queue whose jobs it counts, and holds for the next one once it is set again', async () => {
      const name = randomUUID()
      await jobs.put(job('a'))
      await jobs.mark(name, '7')
      expect(await jobs.marked(name)).toBe('7')
      const { streams } = await nats.connection.jetstreamManager()
      expect(await streams.delete(`${namespace}-jobs-queue`)).toBe(true)
      expect(await jobs.marked(name)).toBeNull()
      await jobs.put(job('b'))
      expect(await jobs.marked(name)).toBeNull()
      await jobs.mark(name, '8')
      expect(await jobs.marked(name)).toBe('8')
    })

    test('a job whose setting aside was cut off half way is set aside by who is given it next', async () => {
      await jobs.put(job('a'))
      const rejected = { state: 'rejected', attempt: 1, delivered: 0, claim: 'c', reason: 'broken' }
      await nats.connection.jetstream().publish(subjectOf('standings', 'a'), JSON.stringify(rejected))
      const seen: string[] = []
      jobs.work('run', patient, async (delivery) => {
        seen.push(delivery.job.id)
      })
      await vi.waitFor(async () =>
        expect(await jobs.rejected('run', 10)).toEqual([{ job: job('a'), reason: 'broken' }]),
      )
      await vi.waitFor(async () => expect(await jobs.pending('run')).toBe(0))
      expect(seen).toEqual([])
      expect(await jobs.requeue('a')).toBe(true)
      await vi.waitFor(() => expect(seen).toEqual(['a']))
    })

    test('a job that was set aside is not queued by putting it again, also when its standing is forgotten', async () => {
      const worker = jobs.work('run', patient, (delivery) => delivery.reject(new RangeError('broken')))
      await jobs.put(job('a'))
      await vi.waitFor(async () => expect(await jobs.rejected('run', 1)).toHaveLength(1))
      await worker.stop()
      const manager = await nats.connection.jetstreamManager()
      await manager.streams.purge(`${namespace}-jobs-standings`)
      await jobs.put(job('a'))
      expect(await jobs.pending('run')).toBe(0)
      expect(await jobs.requeue('a')).toBe(true)
      expect(await jobs.pending('run')).toBe(1)
    })

    test('what is no job is thrown away and told, and the worker goes on', async () => {
      const done: string[] = []
      jobs.work('run', patient, async (delivery) => {
        await delivery.ack()
        done.push(delivery.job.id)
      })
      await nats.connection.jetstream().publish(subjectOf('queue', 'run.junk'), 'no job')
      await jobs.put(job('a'))
      await vi.waitFor(() => expect(done).toEqual(['a']))
      await vi.waitFor(async () => expect(await jobs.pending('run')).toBe(0))
      expect(faults).toEqual(['What came as a job of kind run is none and is thrown away'])
    })

    test('a worker whose consumer was removed makes it again', async () => {
      const done: string[] = []
      jobs.work('run', patient, async (delivery) => {
        await delivery.ack()
        done.push(delivery.job.id)
      })
      await jobs.put(job('a'))
      await vi.waitFor(() => expect(done).toEqual(['a']))
      const manager = await nats.connection.jetstreamManager()
      await manager.consumers.delete(`${namespace}-jobs-queue`, 'run')
      await jobs.put(job('b'))
      await vi.waitFor(() => expect(done).toEqual(['a', 'b']))
    })

    test('a job that was given back often is given again at once by a consumer that was made again', async () => {
      const attempts: number[] = []
      const givenBack: number[] = []
      jobs.work('run', patient, async ({ attempt, ack, nak }) => {
        attempts.push(attempt)
        if (attempt > 20) return ack()
        await nak(attempt < 20 ? 0 : 3_600_000)
        givenBack.push(attempt)
      })
      await jobs.put(job('a'))
      await vi.waitFor(() => expect(givenBack).toHaveLength(20))
      const manager = await nats.connection.jetstreamManager()
      // The new consumer counts deliveries from 1.
      await manager.consumers.delete(`${namespace}-jobs-queue`, 'run')
      await vi.waitFor(() => expect(attempts.at(-1)).toBe(21))
    })

    test('finding 10: what is set aside goes after 90 days', async () => {
      const manager = await nats.connection.jetstreamManager()
      const { config } = await manager.streams.info(`${namespace}-jobs-rejected`)
      expect(config.max_age).toBe(nanos(90 * 24 * 3_600_000))
    })

    test('two queues that open at once share one', async () => {
      await removeStreams(nats, namespace)
      const both = await Promise.all([0, 1].map(() => openNatsJobs({ nats, namespace, onFault, onWaiting })))
      await both[0]?.put(job('a'))
      expect(await both[1]?.pending('run')).toBe(1)
    })
  })
})

describe.skipIf(noOwnNats !== undefined)(
  `a NATS that fails${noOwnNats === undefined ? '' : ` (${noOwnNats})`}`,
  () => {
    let server: OwnNats
    let nats: Nats
    let jobs: Jobs
    beforeEach(async () => {
      server = await ownNats()
      nats = await openNats({ url: server.url, onFault, onWaiting })
      jobs = await openNatsJobs({ nats, onFault, onWaiting })
    })
    afterEach(async () => {
      await jobs.close()
      await nats.close()
      await server.close()
    })
    const job = (id: string): Job => ({ id, kind: 'run', payload: { of: id } })

    /** Puts until it is answered, as the dispatcher does. */
    async function putSurely(put: Job): Promise<void> {
      for (;;) {
        try {
          return await jobs.put(put)
        } catch (fault) {
          if (!(fault instanceof EngineUnavailable)) throw fault
          await pause(50)
        }
      }
    }

    test('stopped for ten seconds while jobs are put and done, it loses none and none is done twice', async () => {
      const begun = new Set<string>()
      const done: string[] = []
      jobs.work('run', { concurrency: 4, leaseMs: 30_000 }, async (delivery) => {
        begun.add(delivery.job.id)
        await pause(30)
        await delivery.ack()
        done.push(delivery.job.id)
      })
      const ids = Array.from({ length: 120 }, (_, index) => `job-${index}`)
      const putting = Promise.all(
        ids.map(async (id, index) => {
          await pause(index * 20)
          await putSurely(job(id))
        }),
      )
      await vi.waitFor(() => expect(done.length).toBeGreaterThan(10))
      await server.stop()
      await pause(10_000)
      await server.start()
      await putting
      await vi.waitFor(async () => expect(await jobs.pending('run')).toBe(0), {
        timeout: 40_000,
        interval: 200,
      })
      expect(begun).toEqual(new Set(ids))
      expect(new Set(done).size).toBe(done.length)
    }, 90_000)

    test('a lease outlives an outage that is shorter than it', async () => {
      const held: Delivery[] = []
      const attempts: number[] = []
      for (let worker = 0; worker < 2; worker += 1) {
        jobs.work('run', { concurrency: 1, leaseMs: 6_000 }, (delivery) => {
          held.push(delivery)
          attempts.push(delivery.attempt)
          return new Promise(() => {})
        })
      }
      await jobs.put(job('a'))
      await vi.waitFor(() => expect(held).toHaveLength(1))
      await server.stop('SIGKILL')
      const renewed = held[0]?.working()
      await pause(2_000)
      await server.start()
      await renewed
      await pause(5_000)
      await held[0]?.working()
      await held[0]?.ack()
      expect(await jobs.pending('run')).toBe(0)
      expect(attempts).toEqual([1])
    }, 40_000)

    test('a lease is lost once it has run out while nobody could be asked', async () => {
      const held: Delivery[] = []
      jobs.work('run', { concurrency: 1, leaseMs: 1_000 }, (delivery) => {
        held.push(delivery)
        return new Promise(() => {})
      })
      await jobs.put(job('a'))
      await vi.waitFor(() => expect(held).toHaveLength(1))
      await server.stop()
      await expect(held[0]?.working()).rejects.toThrow(LeaseLost)
    }, 40_000)

    test('killed and started again, it has what was queued, leased, done and set aside', async () => {
      jobs.work('run', { concurrency: 1, leaseMs: 60_000 }, async (delivery) => {
        await (delivery.job.id === 'aside' ? delivery.reject(new RangeError('broken')) : delivery.ack())
      })
      for (const id of ['done', 'aside']) await jobs.put(job(id))
      await vi.waitFor(async () => expect(await jobs.pending('run')).toBe(0))
      await jobs.put({ ...job('queued'), kind: 'other' })
      await server.stop('SIGKILL')
      await server.start()
      await vi.waitFor(() => jobs.ready())
      for (const id of ['done', 'aside']) await jobs.put(job(id))
      expect(await jobs.pending('run')).toBe(0)
      expect(await jobs.pending('other')).toBe(1)
      expect(await jobs.rejected('run', 10)).toEqual([
        { job: job('aside'), reason: expect.stringMatching(/^RangeError/) },
      ])
      expect(await jobs.requeue('aside')).toBe(true)
      await vi.waitFor(async () => expect(await jobs.rejected('run', 10)).toHaveLength(1), {
        timeout: 10_000,
      })
    }, 40_000)

    describe('killed in the middle of a write,', () => {
      const ids = Array.from({ length: 60 }, (_, index) => `job-${index}`)
      const stream = 'flightdeck-jobs-queue'
      const folder = () => join(server.folder, 'jetstream/$G/streams', stream)
      const consumer = async () =>
        (await nats.connection.jetstreamManager({ checkAPI: false })).consumers.info(stream, 'run')

      /** Puts jobs, has all of them acknowledged, and sets a file or folder of the queue back to what it was before that. */
      async function acknowledgedBut(older: string): Promise<void> {
        // NATS itself forgets what is older than the first message of the queue.
        await jobs.put({ ...job('older'), kind: 'other' })
        const first = jobs.work('run', { concurrency: 1, leaseMs: 60_000 }, (delivery) => delivery.ack())
        await jobs.put(job('first'))
        await vi.waitFor(async () => expect(await jobs.stateOf('first')).toBe('done'))
        await first.stop()
        for (const id of ids) await jobs.put(job(id))
        const inbox = createInbox()
        const taken = nats.connection.subscribe(inbox, { max: ids.length })
        const request = { batch: ids.length, expires: nanos(30_000) }
        nats.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.run`, JSON.stringify(request), {
          reply: inbox,
        })
        const replies: string[] = []
        for await (const { reply = '' } of taken) replies.push(reply)
        await server.stop()
        await cp(join(folder(), older), join(server.folder, 'older'), { recursive: true })
        await server.start()
        await vi.waitFor(() => jobs.ready())
        for (const reply of replies) await nats.connection.request(reply, '+ACK')
        await server.stop()
        await rm(join(folder(), older), { recursive: true })
        await cp(join(server.folder, 'older'), join(folder(), older), { recursive: true })
        await server.start()
        await vi.waitFor(() => jobs.ready())
      }

      test('it delivers jobs although it waits for acknowledgements of messages that are gone', async () => {
        await acknowledgedBut('obs/run/o.dat')
        expect(await jobs.pending('run')).toBe(0)
        expect((await consumer()).num_ack_pending).toBe(ids.length)
        // Only after its wait for acknowledgements does the server try to deliver the messages again.
        await pause(6_000)
        const done: string[] = []
        jobs.work('run', { concurrency: 1, leaseMs: 60_000 }, async (delivery) => {
          done.push(delivery.job.id)
          await delivery.ack()
        })
        for (const id of ['a', 'b', 'c']) await jobs.put(job(id))
        await vi.waitFor(() => expect(done).toEqual(['a', 'b', 'c']))
        expect((await consumer()).num_ack_pending).toBe(0)
      })

      test('jobs whose messages count as acknowledged are delivered, and what is done leaves the queue', async () => {
        await acknowledgedBut('msgs')
        expect(await jobs.pending('run')).toBe(ids.length)
        const done: string[] = []
        jobs.work('run', { concurrency: 1, leaseMs: 60_000 }, async (delivery) => {
          done.push(delivery.job.id)
          await delivery.ack()
        })
        await vi.waitFor(async () => expect(await jobs.pending('run')).toBe(0))
        expect(new Set(done)).toEqual(new Set(ids))
      })
    })

    test('one that stands still is EngineUnavailable within a time, for every call', async () => {
      await server.freeze()
      const calls = [
        () => jobs.ready(),
        () => jobs.put(job('a')),
        () => jobs.pending('run'),
        () => jobs.rejected('run', 1),
        () => jobs.requeue('a'),
      ]
      await Promise.all(calls.map((call) => expect(call()).rejects.toThrow(EngineUnavailable)))
      server.thaw()
      await vi.waitFor(() => jobs.ready())
      await jobs.put(job('a'))
      expect(await jobs.pending('run')).toBe(1)
    }, 40_000)

    test('one that comes back without its data is set up anew', async () => {
      const done: string[] = []
      jobs.work('run', { concurrency: 1, leaseMs: 60_000 }, async (delivery) => {
        await delivery.ack()
        done.push(delivery.job.id)
      })
      await jobs.put(job('a'))
      await vi.waitFor(() => expect(done).toEqual(['a']))
      await server.stop()
      await server.forget()
      await server.start()
      await vi.waitFor(() => jobs.ready())
      await jobs.put(job('b'))
      await vi.waitFor(() => expect(done).toEqual(['a', 'b']))
    }, 40_000)
  },
)
