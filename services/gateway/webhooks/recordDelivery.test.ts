/** Deliveries are recorded although an event of their log cannot be read, with real engines. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deliveryStream } from '#domain/kernel/streams.ts'
import { commands } from '#platform/commands/execute.ts'
import { eventLog } from '#platform/eventlog/eventLog.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { LogRecord } from '#platform/ports/eventStore.ts'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { deliveryRecorder, hintOf, recordedGuids, type RecordingDeps } from './recordDelivery.ts'

const days = ['2026-01-31', '2026-02-01', '2026-02-02'] as const
let engines: TestEngines
let damaged: Set<string>
let now: string
beforeEach(async () => {
  engines = await openTestEngines()
  damaged = new Set()
})
afterEach(() => engines.close())

/** What a process that has just started records with. Of a damaged stream, it cannot read the first event. */
function started(): RecordingDeps {
  const { eventStore } = engines
  const read = (record: LogRecord): LogRecord => {
    const { stream, revision, position, type } = record
    if (!damaged.has(stream) || revision > 0) return record
    return { stream, revision, position, type, damage: 'no_json', hash: null, beginning: '{"broken' }
  }
  const log = eventLog({
    ...engines,
    eventStore: {
      ...eventStore,
      readStream: async (...asked) => (await eventStore.readStream(...asked)).map(read),
    },
  })
  return { commands: commands(log), clock: { now: () => new Date(now) } }
}

/** Records a new delivery, or the one with the GUID, on the day. */
async function deliver(day: string, deps = started(), guid: string = randomUUID()): Promise<string> {
  now = `${day}T12:00:00Z`
  const hint = hintOf(guid, 'push', {})
  if (hint === null) throw new Error('It is no delivery that we act on.')
  await deliveryRecorder(deps)(hint)
  return guid
}

async function guidsIn(day: string): Promise<readonly string[]> {
  const found = await engines.log.read(deliveryStream(day), 0, 100)
  return found.flatMap((event) => (event.type === 'DeliveryReceived' ? [event.data.guid] : []))
}

test('an unreadable day before stops no delivery, and other days are still known', async () => {
  const [lost, yesterday, today] = days
  await deliver(lost)
  const known = await deliver(yesterday)
  damaged.add(deliveryStream(lost))
  const one = await deliver(today)
  await deliver(today, started(), known)
  expect(await guidsIn(today)).toEqual([one])
  expect((await recordedGuids(started()))(known)).toBe(true)
})

test('the deliveries of an unreadable day are recorded once, in the stream of the next', async () => {
  const [, today, tomorrow] = days
  await deliver(today)
  damaged.add(deliveryStream(today))
  const one = await deliver(today)
  await deliver(today, started(), one)
  expect((await recordedGuids(started()))(one)).toBe(true)
  const other = await deliver(tomorrow)
  await deliver(tomorrow, started(), one)
  expect(await guidsIn(today)).toHaveLength(1)
  expect(await guidsIn(tomorrow)).toEqual([one, other])
})

test('an unavailable log counts as no empty day', async () => {
  const deps = started()
  const load: RecordingDeps['commands']['load'] = async () => {
    throw new EngineUnavailable('the event store')
  }
  const away = { ...deps, commands: { ...deps.commands, load } }
  await expect(deliver(days[1], away)).rejects.toThrow(EngineUnavailable)
  await expect(recordedGuids(away)).rejects.toThrow(EngineUnavailable)
})
