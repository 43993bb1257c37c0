/** A log is begun once, keeps its id, and is not taken for one when it is from before. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { log as decider } from '#domain/log.ts'
import { logStream, taskStream } from '#domain/kernel/streams.ts'
import { TaskUpdated } from '#domain/task/events.ts'
import { taskId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { emptyHead } from './eventLog.ts'
import { commands } from '../commands/execute.ts'
import { openLog } from './logIdentity.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const opening = () => openLog({ ...engines, commands: commands(engines.log) })

test('a log that is empty is begun by the first who opens it, and of several at once by one', async () => {
  const all = await Promise.all([opening(), opening(), opening()])
  expect(new Set(all.map(({ logId }) => logId)).size).toBe(1)
  expect(await opening()).toEqual({ logId: all[0].logId, epoch: 1 })
  expect(await engines.log.read(logStream, 0, 10)).toHaveLength(1)
})

test('a restore begins another epoch of the same log', async () => {
  const { logId } = await opening()
  await engines.commands.execute(decider, logStream, { type: 'RestoreLog' }, cause())
  expect(await opening()).toEqual({ logId, epoch: 2 })
})

test('events that no log began with are refused with a sentence', async () => {
  await engines.log.append(
    taskStream(taskId(1)),
    emptyHead,
    [TaskUpdated.of({}, { title: 'a', description: '' })],
    cause(),
  )
  await expect(opening()).rejects.toThrow(/holds a log in an early format/)
})
