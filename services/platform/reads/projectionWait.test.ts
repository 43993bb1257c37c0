/** A read after a write shows that write: it waits for the projection. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import type { AppendResult } from '#platform/ports/eventStore.ts'
import { sampleEvent } from '../../../tests/contracts/eventStore.samples.ts'
import { taskId } from '../../../tests/domain/ids.ts'
import { patienceMs } from '../../../tests/patience.ts'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { mainProjection, projected, type Projected } from './projectionWait.ts'

let engines: TestEngines
let follow: Projected
beforeEach(async () => {
  engines = await openTestEngines()
  follow = projected(engines)
})
afterEach(async () => {
  follow.close()
  await engines.close()
})

const say = (position: string, projection = mainProjection) =>
  engines.bus.publish('projected', { projection, position })
const checkpoint = (position: string) => engines.readStore.apply([], { projection: mainProjection, position })

test('who waits is told the moment the bus says so, before the store is asked', async () => {
  const asked = vi.spyOn(engines.readStore, 'checkpoint')
  const waiting = follow.waitFor('7', patienceMs)
  say('7')
  expect(await waiting).toBe(true)
  expect(asked).not.toHaveBeenCalled()
})

test('a position beyond serves as well, and positions order as numbers', async () => {
  say('10')
  expect(await follow.waitFor('9', 1_000)).toBe(true)
  expect(await follow.waitFor('10', 0)).toBe(true)
})

test('all who wait are told, each at its own place', async () => {
  const waits = ['1', '2', '3'].map((position) => follow.waitFor(position, 300))
  say('2')
  expect(await Promise.all(waits)).toEqual([true, true, false])
})

test('where the bus is silent the store tells', async () => {
  const waiting = follow.waitFor('7', patienceMs)
  await checkpoint('7')
  expect(await waiting).toBe(true)
})

test('what no read model wants is waited for no longer than what lies before it', async () => {
  const [task, terminal] = [taskStream(taskId(1)), terminalStream(taskId(1))]
  const { eventStore } = engines
  const wanted = await eventStore.append(task, -1, [sampleEvent(task, 0)])
  const other = await eventStore.append(terminal, -1, [sampleEvent(terminal, 0)])
  const next = await eventStore.append(task, 0, [sampleEvent(task, 1)])
  const positionOf = (result: AppendResult) => (result.kind === 'appended' && result.positions[0]) || ''
  await checkpoint(positionOf(wanted))
  expect(await follow.waitFor(positionOf(other), 2_000)).toBe(true)
  expect(await follow.waitFor(positionOf(next), 600)).toBe(false)
  expect(await follow.waitFor('999', 600)).toBe(false)
})

test('an event that is appended while the log is asked is waited for', async () => {
  const task = taskStream(taskId(1))
  await checkpoint('0')
  const { readAll, ...store } = engines.eventStore
  let appended: Promise<AppendResult> | undefined
  const appending: typeof readAll = async (...range) => {
    const found = await readAll(...range)
    appended ??= engines.eventStore.append(task, -1, [sampleEvent(task, 0)])
    await appended
    return found
  }
  const asked = projected({ ...engines, eventStore: { ...store, readAll: appending } })
  const terminal = terminalStream(taskId(1))
  await engines.eventStore.append(terminal, -1, [sampleEvent(terminal, 0)])
  expect(await asked.waitFor('2', 600)).toBe(false)
  asked.close()
})

test('of what no read model wants the store is asked once for all who wait for it later', async () => {
  const terminal = terminalStream(taskId(1))
  const first = await engines.eventStore.append(terminal, -1, [sampleEvent(terminal, 0)])
  const position = (first.kind === 'appended' && first.positions[0]) || ''
  await checkpoint('0')
  expect(await follow.waitFor(position, patienceMs)).toBe(true)
  const asked = vi.spyOn(engines.readStore, 'checkpoint')
  expect(await follow.waitFor(position, patienceMs)).toBe(true)
  expect(asked).not.toHaveBeenCalled()
})

test('the engines are asked once for all who wait, and not at all when nobody does', async () => {
  const asked = vi.spyOn(engines.readStore, 'checkpoint')
  const waits = Array.from({ length: 20 }, () => follow.waitFor('7', patienceMs))
  await vi.waitUntil(() => asked.mock.calls.length === 2)
  await checkpoint('7')
  expect(new Set(await Promise.all(waits))).toEqual(new Set([true]))
  expect(asked.mock.calls.length).toBeLessThan(waits.length)
})

test('what is not folded in time is told as such, and the place of another projection counts for nothing', async () => {
  say('9', 'another')
  expect(await follow.waitFor('9', 100)).toBe(false)
})

test('word of an earlier place, come late, takes nothing back', async () => {
  say('9')
  say('3')
  expect(await follow.waitFor('9', 1_000)).toBe(true)
})
