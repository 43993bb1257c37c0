/** When a run is claimed; with the server's log. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { executionId, taskId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { deliveryQueue, stopping } from './control.ts'
import { runExecution } from './execution.ts'
import { Evicted } from './failure.ts'
import { recordingPatienceMs } from './recording/terminalWriter.ts'
import type { ExecutionDeps } from './runTypes.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
  await engines.commands.execute(task, taskStream(taskId(1)), creating(1), cause())
})
afterEach(() => engines.close())

/** Runs the execution of the task, for which another runner is always faster. Returns how long each of its claims would have waited for the log. */
async function run(stop = stopping()): Promise<readonly (number | undefined)[]> {
  const patience: (number | undefined)[] = []
  const execute: Commands['execute'] = async (...asked) => {
    patience.push(asked[3].patienceMs)
    throw new Fault('evicted')
  }
  const deps = {
    ...engines,
    runnerId: 'me',
    commands: { ...engines.commands, execute },
    prewarm: { agents: { thaw: () => undefined, freeze: async () => undefined } },
  } as unknown as ExecutionDeps
  const control = { stop, steering: deliveryQueue(), answers: deliveryQueue(), waits: () => undefined }
  await runExecution(deps, { taskId: taskId(1), executionId: executionId(1) }, control)
  return patience
}

test('a claim waits for the log as long as what is recorded after it', async () => {
  expect(await run()).toEqual([recordingPatienceMs])
})

test('a run that has not begun when the server stops is left as it is', async () => {
  const stop = stopping()
  stop.stop('stopping')
  await expect(run(stop)).rejects.toThrow(Evicted)
})

test('the end of a lost turn is recorded at once with its message in the chat', async () => {
  const [id, stream] = [executionId(1), taskStream(taskId(1))]
  const start = { type: 'StartExecution', executionId: id, afterAttempt: 0, runnerId: 'lost' } as const
  await engines.commands.execute(task, stream, start, cause())
  const deps = {
    ...engines,
    runnerId: 'me',
    prewarm: { agents: { thaw: () => undefined, freeze: async () => undefined } },
  } as unknown as ExecutionDeps
  const control = {
    stop: stopping(),
    steering: deliveryQueue(),
    answers: deliveryQueue(),
    waits: () => undefined,
  }
  await runExecution(deps, { taskId: taskId(1), executionId: id }, control)
  const [end, message] = await engines.log.readBackwards(stream, 'end', 2)
  expect([message?.type, end?.type]).toEqual(['MessagePosted', 'ExecutionFailed'])
  expect(message?.meta.commandId).toBe(end?.meta.commandId)
})
