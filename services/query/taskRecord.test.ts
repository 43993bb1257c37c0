/** What is reported about a record agrees with the log as it is stored. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { openSealedLog, type SealedLog } from '../../tests/server/sealedLog.ts'
import { sealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { taskRecords } from './taskRecord.ts'

let sealed: SealedLog
let stream = ''
beforeAll(async () => {
  sealed = await openSealedLog()
  stream =
    [...sealed.log].findLast((event) => event.stream.startsWith('task-') && event.revision > 5)?.stream ?? ''
})
afterAll(() => sealed?.close())

const inTask = (event: StoredEvent) => event.stream === stream
const terminalOf = (event: StoredEvent) => event.stream === stream.replace('task-', 'terminal-')

/** The records of the log as it would be, with a clock that is moved by hand. */
function recordsOf(log: readonly StoredEvent[], clock = { at: 0 }) {
  const { engines, evidence } = sealed
  const events = { current: log }
  const records = taskRecords({
    ...engines,
    blobs: sealedBlobs(engines),
    eventStore: {
      ...engines.eventStore,
      async readStream(of, { from, direction, limit }) {
        const all = events.current.filter((event) => event.stream === of)
        if (direction === 'backwards') return all.toReversed().slice(0, limit)
        return all.filter((event) => event.revision >= Number(from)).slice(0, limit)
      },
    },
    rpc: openInProcessRpc({ onFault: () => undefined }),
    logIdentity: evidence.identity,
    clock: { ...engines.clock, now: () => new Date(clock.at) },
    isSealing: true,
  })
  return { of: () => records.of(stream.replace('task-', '')), events, clock }
}

test('recorder point 1: a whole record is checked and sealed to its end, under a key', async () => {
  const { log } = sealed
  const events = log.filter((event) => inTask(event) || terminalOf(event)).length
  expect(await recordsOf(log).of()).toMatchObject({
    events,
    checked: { events },
    damage: null,
    isSealing: true,
    seal: { events },
    key: expect.stringMatching(/^([0-9a-f]{4} ?){8}$/),
  })
})

test('recorder point 1: a changed event is named', async () => {
  const { log } = sealed
  const changed = log.map((event) =>
    inTask(event) && event.revision === 3 ? { ...event, at: '2020-01-01T00:00:00.000Z' } : event,
  )
  expect(await recordsOf(changed).of()).toMatchObject({
    damage: { stream: 'task', revision: 3 },
    checked: { events: expect.any(Number) },
  })
})

test('recorder point 1: an end that was cut off after it was sealed is named', async () => {
  const { log } = sealed
  const last = Math.max(...log.filter(inTask).map(({ revision }) => revision))
  const cut = log.filter((event) => !(inTask(event) && event.revision === last))
  expect(await recordsOf(cut).of()).toMatchObject({ damage: { stream: 'task', revision: last } })
})

test('what was found is believed for ten minutes, and what is new is checked at once', async () => {
  const { log } = sealed
  const last = Math.max(...log.filter(inTask).map(({ revision }) => revision))
  const records = recordsOf(log.filter((event) => !(inTask(event) && event.revision === last)))
  await records.of()
  records.events.current = log
  const whole = await records.of()
  expect(whole.checked.events).toBe(whole.events)
  records.events.current = log.map((event) =>
    inTask(event) && event.revision === 2 ? { ...event, at: '2020-01-01T00:00:00.000Z' } : event,
  )
  expect((await records.of()).damage).toBeNull()
  records.clock.at = 600_000
  expect((await records.of()).damage).toEqual({ stream: 'task', revision: 2 })
})

test('recorder point 1: what was sealed stays sealed while the trees grow beyond the newest seal', async () => {
  const { log } = sealed
  const newest = Math.max(...log.map((event) => (event.stream.startsWith('seal-') ? event.revision : -1)))
  const records = recordsOf(log)
  const { events } = await records.of()
  records.events.current = log.filter(
    (event) => !(event.stream.startsWith('seal-') && event.revision === newest),
  )
  expect((await records.of()).seal).toMatchObject({ events })
})
