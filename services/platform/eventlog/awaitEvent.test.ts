/** Waiting for an event in a stream. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { TaskUpdated } from '#domain/task/events.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { taskId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { awaitEvent } from './awaitEvent.ts'

const stream = taskStream(taskId(1))

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => {
  vi.useRealTimers()
  return engines.close()
})

type Titled = Extract<AnyRecorded, { type: 'TaskUpdated' }>
const isTitled =
  (title: string) =>
  (event: AnyRecorded): event is Titled =>
    event.type === 'TaskUpdated' && event.content?.title === title

async function append(...titles: readonly string[]): Promise<void> {
  const events = titles.map((title) => TaskUpdated.of({}, { title, description: '' }))
  await engines.log.append(stream, await engines.log.headOf(stream), events, cause())
}
const wait = (title: string, withinMs: number, from = 0) =>
  awaitEvent(engines, { stream, from, withinMs, match: isTitled(title) })

test('what has happened already is found at once, also far back', async () => {
  for (let count = 0; count < 3; count += 1)
    await append(...Array.from({ length: 400 }, (_, n) => String(count * 400 + n)))
  expect(await wait('1199', 0)).toMatchObject({ revision: 1_199 })
  expect(await wait('3', 0)).toMatchObject({ revision: 3 })
})

test('what happens while one waits is found at once, before the log is looked at again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  await append('one')
  const waiting = wait('two', 5_000)
  await append('two')
  expect(await waiting).toMatchObject({ revision: 1, content: { title: 'two' } })
})

test('it is found also when the bus says nothing', async () => {
  const deaf = { log: engines.log, bus: { ...engines.bus, subscribe: () => () => undefined } }
  const waiting = awaitEvent(deaf, { stream, from: 0, withinMs: 5_000, match: isTitled('one') })
  await append('one')
  expect(await waiting).toMatchObject({ revision: 0 })
})

test('what came before the asked place does not count, and what never comes is not waited for longer than said', async () => {
  await append('one')
  expect(await wait('one', 200, 1)).toBeUndefined()
})
