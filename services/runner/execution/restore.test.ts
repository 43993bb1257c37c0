/** The unfinished work of an undo is found at a start, whatever else is damaged, and done where the task ran last. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { executionId, taskId } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { openLocks } from '../workspace/locks.ts'
import { interruptedRestores, restoreIdleTasks } from './restore.ts'
import type { ExecutionDeps } from './runTypes.ts'

let engines: TestEngines
let root = ''
beforeEach(async () => {
  engines = await openTestEngines()
  root = await mkdtemp(join(tmpdir(), 'flightdeck-restores-'))
})
afterEach(async () => {
  await engines.close()
  await rm(root, { recursive: true, force: true })
})

/** A task whose one turn was undone, and whose files are still those of that turn. */
async function undone(n: number): Promise<void> {
  const stream = taskStream(taskId(n))
  const { head } = await engines.commands.execute(task, stream, creating(n), cause())
  const turn = [past.started(n), past.delivered(n), past.prepared, past.snapshotTaken(n), past.succeeded(n)]
  await engines.log.append(stream, head, turn, cause())
  const undo = { type: 'UndoTurn', undoId: executionId(90 + n), executionId: executionId(n) } as const
  await engines.commands.execute(task, stream, undo, cause())
  await mkdir(join(root, 'tasks', taskId(n)), { recursive: true })
}

test('an undo whose files were not restored is found, also beside a task that cannot be read', async () => {
  for (const n of [1, 2, 3]) await undone(n)
  const load: TestEngines['commands']['load'] = (decider, stream) =>
    stream === taskStream(taskId(2))
      ? Promise.reject(new Error('damaged'))
      : engines.commands.load(decider, stream)
  const found = await interruptedRestores({ ...engines, root, commands: { ...engines.commands, load } })
  expect(found.toSorted()).toEqual([taskId(1), taskId(3)])
})

test.each([
  ['runner-1', true],
  ['runner-2', false],
])('an undo of a task that runner-1 ran last is restored by %s: %s', async (runnerId, isRestored) => {
  await undone(1)
  const looked: string[] = []
  const stop = restoreIdleTasks({
    ...engines,
    root: '/nowhere',
    runnerId,
    isAlone: false,
    locks: openLocks(),
    workspaces: { has: async () => true },
    documents: { get: async (_: unknown, id: string) => void looked.push(id) },
  } as unknown as ExecutionDeps)
  engines.bus.publish('appended', { stream: taskStream(taskId(1)), revision: 9, type: 'TurnsUndone' })
  // The bus delivers in the next turn of the event loop.
  await new Promise<void>((resolve) => setImmediate(resolve))
  await stop()
  expect(looked).toEqual(isRestored ? [taskId(1)] : [])
})
