/** When several tasks are requested at once, exactly as many start as are allowed. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { taskId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, somebody, type TestEngines } from '../../../tests/server/engines.ts'
import { admission } from './admission.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

/**
 * Requests `asked` tasks at once. Returns how many were admitted. With `late`, the read models contain a new task some time after `waitFor` was
 * called. Otherwise they contain it at once, and `waitFor` resolves some time later.
 */
async function admitted(
  asked: number,
  tasksAtOnce: number,
  folds: 'before it tells' | 'late',
): Promise<number> {
  let projectedTasks = 0
  const rounds = async () => {
    for (let round = 0; round < 5; round += 1) await new Promise(setImmediate)
  }
  const { admit } = admission({
    ballast: { isFull: () => false },
    tasksAtOnce,
    documents: { count: () => Promise.resolve(projectedTasks) },
    projected: {
      async waitFor() {
        if (folds === 'late') await rounds()
        projectedTasks += 1
        if (folds === 'before it tells') await rounds()
        return true
      },
    },
  })
  const ask = async (n: number) => {
    await engines.commands.execute(task, taskStream(taskId(n)), creating(n), cause(), () =>
      admit(somebody.userId),
    )
  }
  const answers = await Promise.allSettled(Array.from({ length: asked }, (_, n) => ask(n + 1)))
  return answers.filter(({ status }) => status === 'fulfilled').length
}

test.for(['before it tells', 'late'] as const)(
  'as many are admitted as may be, where the projection folds %s',
  async (folds) => {
    expect(await admitted(5, 2, folds)).toBe(2)
  },
)

test('two that both have a place are both admitted', async () => {
  expect(await admitted(2, 2, 'before it tells')).toBe(2)
})

test('who fails to start takes no place', async () => {
  const { admit } = admission({
    ballast: { isFull: () => false },
    tasksAtOnce: 1,
    documents: { count: () => Promise.resolve(0) },
    projected: { waitFor: () => Promise.resolve(true) },
  })
  const failed = await admit(somebody.userId)
  failed(null)
  const conflicting = await admit(somebody.userId)
  conflicting({ kind: 'conflict', actual: 3 })
  expect(await admit(somebody.userId)).toBeTypeOf('function')
})
