import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openSqliteJobs } from '#platform/jobs/sqlite.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Delivery } from '#platform/ports/jobs.ts'
import { jobsContract } from './jobs.contract.ts'

const clock = { now: () => new Date() }
const onFault = () => {}

jobsContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-jobs-'))
  const file = join(folder, 'jobs.db')
  let jobs = openSqliteJobs({ file, clock, onFault })
  return {
    jobs,
    reopen: async () => {
      await jobs.close()
      jobs = openSqliteJobs({ file, clock, onFault })
      return jobs
    },
    close: async () => {
      await jobs.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe('the SQLite jobs', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flightdeck-jobs-'))
    file = join(folder, 'jobs.db')
  })
  afterEach(() => rm(folder, { recursive: true }))

  const job = (id: string) => ({ id, kind: 'run', payload: {} })
  const patient = { concurrency: 1, leaseMs: 3_600_000 }

  test('what an earlier process had leased comes again at once, as the next attempt', async () => {
    const before = openSqliteJobs({ file, clock, onFault })
    const hung: Delivery[] = []
    before.work('run', patient, (delivery) => {
      hung.push(delivery)
      return new Promise(() => {})
    })
    await before.put(job('a'))
    await vi.waitFor(() => expect(hung).toHaveLength(1))
    await before.close()

    const after = openSqliteJobs({ file, clock, onFault })
    const attempts: number[] = []
    after.work('run', patient, async (delivery) => {
      attempts.push(delivery.attempt)
      await delivery.ack()
    })
    await vi.waitFor(() => expect(attempts).toEqual([2]))
    await expect(hung[0]?.working()).rejects.toThrow(EngineUnavailable)
    await after.close()
  })

  test('a clock that is set back, while the queue is open or closed, holds up no job', async () => {
    let now = Date.parse('2025-01-01T12:00:00Z')
    const open = () => openSqliteJobs({ file, clock: { now: () => new Date(now) }, onFault })
    const before = open()
    await before.put(job('a'))
    await before.close()
    now -= 3_600_000
    const jobs = open()
    const done: string[] = []
    const begin = () =>
      jobs.work('run', patient, async (delivery) => {
        done.push(delivery.job.id)
        await delivery.ack()
      })
    const worker = begin()
    await vi.waitFor(() => expect(done).toEqual(['a']))
    await worker.stop()
    await jobs.put(job('b'))
    now -= 3_600_000
    begin()
    await vi.waitFor(() => expect(done).toEqual(['a', 'b']))
    await jobs.close()
  })

  test('jobs start while others are still being put without a pause', async () => {
    const jobs = openSqliteJobs({ file, clock, onFault })
    const done: string[] = []
    jobs.work('run', patient, async (delivery) => {
      await delivery.ack()
      done.push(delivery.job.id)
    })
    for (let count = 0; done.length === 0; count += 1) {
      expect(count).toBeLessThan(50)
      await jobs.put(job(`job ${count}`))
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    }
    await jobs.close()
  })

  test('ids of jobs that were done are kept for 7 days and then forgotten', async () => {
    let now = Date.parse('2025-01-01T00:00:00Z')
    const jobs = openSqliteJobs({ file, clock: { now: () => new Date(now) }, onFault })
    const seen: string[] = []
    jobs.work('run', patient, async (delivery) => {
      seen.push(delivery.job.id)
      await delivery.ack()
    })
    const putAll = async () => {
      await jobs.put(job('a'))
      await jobs.put(job(`marks ${now}`))
      await vi.waitFor(async () => expect(await jobs.pending('run')).toBe(0))
      return seen.filter((id) => id === 'a').length
    }
    expect(await putAll()).toBe(1)
    now += 6 * 24 * 3_600_000
    expect(await putAll()).toBe(1)
    now += 2 * 24 * 3_600_000
    expect(await putAll()).toBe(2)
    await jobs.close()
  })

  test('finding 10: what is set aside is forgotten after 90 days, and no word of why is in the file', async () => {
    let now = Date.parse('2025-01-01T00:00:00Z')
    const jobs = openSqliteJobs({ file, clock: { now: () => new Date(now) }, onFault })
    jobs.work('run', patient, (delivery) => delivery.reject(new Error('quokka: a person wrote this')))
    await jobs.put(job('a'))
    await vi.waitFor(async () => expect(await jobs.rejected('run', 1)).toHaveLength(1))
    now += 89 * 24 * 3_600_000
    await jobs.put({ ...job('b'), kind: 'other' })
    expect(await jobs.rejected('run', 1)).toEqual([
      { job: job('a'), reason: expect.stringMatching(/^Error at/) },
    ])
    now += 2 * 24 * 3_600_000
    await jobs.put({ ...job('c'), kind: 'other' })
    expect(await jobs.stateOf('a')).toBeUndefined()
    await jobs.close()
    for (const name of await readdir(folder))
      expect((await readFile(join(folder, name))).includes('quokka')).toBe(false)
  })

  test('a queue that cannot be read for a moment is read again a moment later', async () => {
    const faults: unknown[] = []
    const jobs = openSqliteJobs({ file, clock, onFault: (what) => faults.push(what) })
    const done: string[] = []
    jobs.work('run', patient, async (delivery) => {
      await delivery.ack()
      done.push(delivery.job.id)
    })
    await jobs.put(job('a'))
    await vi.waitFor(() => expect(done).toEqual(['a']))
    const other = new DatabaseSync(file)
    other.exec('ALTER TABLE turns RENAME TO away')
    await jobs.put({ ...job('b'), person: 'ada' })
    await vi.waitFor(() => expect(faults).toContain('No job of kind run could be taken'))
    other.exec('ALTER TABLE away RENAME TO turns')
    other.close()
    await vi.waitFor(() => expect(done).toEqual(['a', 'b']))
    await jobs.close()
  })

  test('a handler that throws is reported', async () => {
    const faults: unknown[][] = []
    const jobs = openSqliteJobs({ file, clock, onFault: (...fault) => faults.push(fault) })
    const fault = new Error('as the test wants it')
    jobs.work('run', patient, async () => {
      throw fault
    })
    await jobs.put(job('a'))
    await vi.waitFor(() =>
      expect(faults[0]).toEqual(['Job a (run) failed at attempt 1 and is given back', fault]),
    )
    await jobs.close()
  })
})
