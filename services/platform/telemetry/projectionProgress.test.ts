/** The readiness check reports a projection that does not advance. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { TaskUpdated } from '#domain/task/events.ts'
import { mainProjection } from '#platform/reads/projectionWait.ts'
import { changeCatalog } from '#platform/ports/readStore.ts'
import { NotFolded } from '#platform/ports/faults.ts'
import { taskId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { requireProgress } from './projectionProgress.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const later = (seconds: number) => ({ now: () => new Date(Date.now() + seconds * 1_000) })
const append = async (title: string) => {
  const stream = taskStream(taskId(1))
  const head = await engines.log.headOf(stream)
  await engines.log.append(stream, head, [TaskUpdated.of({}, { title, description: '' })], cause())
  return (await engines.eventStore.head()) ?? '0'
}
const foldedTo = (position: string) => engines.readStore.apply([], { projection: mainProjection, position })

test('all is well with nothing to fold, with what has just come, and while it is caught up with', async () => {
  await expect(requireProgress({ ...engines, clock: later(60) })).resolves.toBeUndefined()
  const first = await append('one')
  await expect(requireProgress({ ...engines, clock: later(10) })).resolves.toBeUndefined()
  const last = await append('two')
  const readStore: typeof engines.readStore = {
    ...engines.readStore,
    async checkpoint(projection) {
      const before = await engines.readStore.checkpoint(projection)
      await foldedTo(first)
      return before
    },
  }
  await expect(requireProgress({ ...engines, readStore, clock: later(60) })).resolves.toBeUndefined()
  await foldedTo(last)
  await expect(requireProgress({ ...engines, clock: later(60) })).resolves.toBeUndefined()
})

test('finding 1: a projection that does not advance is none that is ready', async () => {
  await append('one')
  await expect(requireProgress({ ...engines, clock: later(60) })).rejects.toThrow('does not advance')
})

test('nor is one without views that can be read', async () => {
  await changeCatalog(engines.readStore, ({ live: { users: _users, ...live }, ...catalog }) => ({
    ...catalog,
    live,
  }))
  await expect(requireProgress(engines)).rejects.toThrow(NotFolded)
})
