/** An operator's commands about failed jobs, a restored log, the check of the log, rebuilds of read models, and the keys of seals. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { userStream } from '#domain/kernel/streams.ts'
import { notesOf } from '#domain/proof/sealNotes.ts'
import { OnboardingCompleted } from '#domain/user/events.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { openLog } from '#platform/eventlog/logIdentity.ts'
import { changeCatalog } from '#platform/ports/readStore.ts'
import type { SealsFile } from '#platform/seals/sealsFile.ts'
import { taskId } from '../../tests/domain/ids.ts'
import { cause, eventually, openTestEngines, somebody, type TestEngines } from '../../tests/server/engines.ts'
import { readModelOperationOf, operationOf, UnknownWords } from './operatorCommands.ts'
import { startProjector } from '../query/projection/projector.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const noSeals: SealsFile = {
  newest: async () => undefined,
  append: async () => undefined,
  async *all() {
    yield* []
  },
}
const operate = async (words: readonly string[]) =>
  (await operationOf(words)?.({ ...engines, sealsFile: noSeals, progress: () => undefined }))?.lines

/** Queues a job, which a worker then rejects, so that it is set aside as failed. */
async function setAside(id: string, kind: string): Promise<void> {
  const { jobs } = engines
  await jobs.put({ id, kind, payload: { taskId: 'a-task' } })
  const worker = jobs.work(kind, { concurrency: 1, leaseMs: 1_000 }, (delivery) =>
    delivery.reject(new RangeError('It cannot be done.')),
  )
  await eventually('it is set aside', async () => (await jobs.rejected(kind, 1)).length === 1)
  await worker.stop()
}

test('lists what was set aside, a line each, and queues one again', async () => {
  expect(await operate(['jobs'])).toEqual(['No job was set aside.'])
  await setAside('one', 'execution')
  await setAside('two', 'pull_request')
  expect(await operate(['jobs'])).toEqual([
    expect.stringMatching(/^one {2}execution {2}taskId=a-task {2}RangeError at .+$/),
    expect.stringMatching(/^two {2}pull_request {2}taskId=a-task {2}RangeError at .+$/),
  ])
  expect(await operate(['jobs', 'requeue', 'one'])).toEqual(['one is queued again.'])
  expect(await operate(['jobs'])).toHaveLength(1)
  expect(await engines.jobs.pending('execution')).toBe(1)
  expect(await operate(['jobs', 'requeue', 'one'])).toEqual(['No job one was set aside.'])
})

test('begins the next epoch of a log that was put back, above any that the read models or the seals have heard of', async () => {
  const { logId } = await openLog(engines)
  const { readStore } = engines
  const told = (epoch: number) => [
    `Log ${logId} goes on in epoch ${epoch}: read models are rebuilt at the next start, and what is open is queued from the log.`,
  ]
  expect(await operate(['restored'])).toEqual(told(2))
  await changeCatalog(readStore, (catalog) => ({ ...catalog, log: { logId, epoch: 5 } }))
  expect(await operate(['restored'])).toEqual(told(6))
  expect((await readStore.catalog()).live).toEqual({})
  expect(await openLog(engines)).toEqual({ logId, epoch: 6 })
  const tree = { size: 1, root: '0'.repeat(64), signature: '0'.repeat(128), keyId: '0'.repeat(8) }
  const heads = { streams: 1, root: tree.root, signature: tree.signature }
  const sealedAs = (sealedId: string) => ({
    ...noSeals,
    newest: async () => ({ revision: 3, at: '', ...notesOf(sealedId, { ...tree, heads, epoch: 8 }) }),
  })
  const after = async (sealedId: string) =>
    operationOf(['restored'])?.({
      ...engines,
      logIdentity: { logId, epoch: 6 },
      sealsFile: sealedAs(sealedId),
      progress: () => undefined,
    })
  expect(await after(taskId(1))).toEqual({ lines: told(7) })
  expect(await after(logId)).toEqual({ lines: told(9) })
})

test('checks the log, and names what is wrong where it is', async () => {
  await openLog(engines)
  await engines.log.append(
    userStream(somebody.userId),
    emptyHead,
    [OnboardingCompleted.of({ companySize: 'solo', role: 'other' }, { fullName: 'Ada', email: null })],
    cause(),
  )
  expect(await operate(['verify'])).toEqual([
    'The log is whole: 2 events in 2 streams were checked; the content of 0 was erased. It was never sealed.',
  ])
  await engines.vault.destroy(`user:${somebody.userId}`)
  expect(await operate(['verify'])).toEqual([
    'The log is whole: 2 events in 2 streams were checked; the content of 1 was erased. It was never sealed.',
  ])
  const damaged = {
    ...engines.eventStore,
    readAll: async (after: string | null, limit: number) =>
      (await engines.eventStore.readAll(after, limit)).map((event) => ({
        ...event,
        at: '2020-01-01T00:00:00.000Z',
      })),
  }
  const told = await operationOf(['verify'])?.({
    ...engines,
    eventStore: damaged,
    sealsFile: noSeals,
    progress: () => undefined,
  })
  expect(told).toEqual({
    failed: true,
    lines: [
      'log-main @ 0 is not what its hash was taken over: it was changed.',
      `user-${somebody.userId} @ 0 is not what its hash was taken over: it was changed.`,
      'The log is not whole: 2 events in 2 streams were checked; the content of 0 was erased. It was never sealed.',
    ],
  })
})

describe('asks for read models to be made anew', () => {
  test('and ends when they are, having told how far it is', async () => {
    const projector = await startProjector(engines)
    const told: string[] = []
    const answer = await readModelOperationOf(['rebuild', 'tasks'])?.({
      ...engines,
      progress: (line) => void told.push(line),
    })
    expect(answer).toEqual({ lines: ['tasks: rebuilt from the log.'] })
    expect((await engines.readStore.catalog()).live).toMatchObject({
      tasks: { name: 'tasks_g2' },
      users: { name: 'users_g1' },
    })
    const whole = await readModelOperationOf(['rebuild'])?.({ ...engines, progress: () => undefined })
    expect(whole?.lines[0]).toMatch(/^users, .*: rebuilt from the log\.$/)
    await projector.stop()
  })

  test('and says so when nobody makes them', async () => {
    const answer = await readModelOperationOf(
      ['rebuild', 'logs'],
      500,
    )?.({ ...engines, progress: () => undefined })
    expect(answer?.lines[0]).toMatch(/^logs: asked for\. No process makes it now/)
    expect((await engines.readStore.catalog()).wanted).toEqual(['logs'])
  })
})

test.each([
  [['start']],
  [['verify', 'it']],
  [['jobs', 'delete']],
  [['jobs', 'requeue']],
  [['jobs', 'requeue', 'one', 'two']],
])('refuses words that it does not know: %j', (words) => {
  expect(() => operationOf(words)).toThrow(UnknownWords)
})

test.each([[['rebuild', 'nothing']], [['rebuild', 'tasks', 'logs']]])('refuses %j', (words) => {
  expect(() => readModelOperationOf(words)).toThrow(UnknownWords)
})

test('no words are no operation', () => {
  expect(operationOf([])).toBeUndefined()
})

test('shows the keys that the log is sealed with, and makes another one that comes first', async () => {
  expect(await operate(['seals'])).toEqual(['The log was not sealed yet.'])
  const [, first] = (await operate(['seals', 'new-key'])) ?? []
  expect(first).toMatch(/^flightdeck\.dev\/log\/[^+]+\+[0-9a-f]{8}\+/)
  const [, second, ...rest] = (await operate(['seals', 'new-key'])) ?? []
  const link = [
    expect.stringMatching(/vouches/),
    expect.stringMatching(/\/next-key$/),
    expect.any(String),
    '',
    expect.stringMatching(/^\u2014 flightdeck/),
  ]
  expect(rest).toEqual([first, ...link])
  expect(await operate(['seals'])).toEqual(['The log was not sealed yet.', second, first, ...link])
})
