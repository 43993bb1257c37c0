/** Reports of a run: in order, in few appends, and each with its outcome. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { MessagePosted } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { eventLog } from '#platform/eventlog/eventLog.ts'
import { commands } from '#platform/commands/execute.ts'
import { TooLarge } from '#platform/ports/faults.ts'
import { creating } from '../../../../tests/domain/creating.ts'
import { executionId, messageId, taskId } from '../../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../../tests/server/engines.ts'
import { Evicted, failed } from '../failure.ts'
import { reporter, type Reporter } from './reporter.ts'

const stream = taskStream(taskId(1))
const mostBytes = 20_000
let engines: TestEngines
let appends: number
let report: Reporter
beforeEach(async () => {
  engines = await openTestEngines()
  const { eventStore } = engines
  appends = 0
  const bounded = commands(
    eventLog({
      ...engines,
      eventStore: {
        ...eventStore,
        append(to, expected, events) {
          appends += 1
          if (JSON.stringify(events).length > mostBytes) return Promise.reject(new TooLarge('Too much.'))
          return eventStore.append(to, expected, events)
        },
      },
    }),
  )
  const create = creating()
  const start = {
    type: 'StartExecution',
    executionId: executionId(1),
    afterAttempt: 0,
    runnerId: 'here',
  } as const
  await engines.commands.execute(task, stream, create, cause())
  await engines.commands.execute(task, stream, start, cause())
  report = reporter(bounded, taskId(1), { executionId: executionId(1), attempt: 1 })
})
afterEach(() => engines.close())

const says = (n: number, message: string) =>
  MessagePosted.of(
    { messageId: messageId(n), messageType: 'response', agent: 'claude', executionId: executionId(1) },
    { message },
  )

/** What the agent has said, by the log. */
async function said(): Promise<readonly string[]> {
  const events = await engines.log.read(stream, 0, 100)
  return events.flatMap((event) => (event.type === 'MessagePosted' ? [event.content?.message ?? ''] : []))
}

test('reports come in their order, and those that wait go in one append', async () => {
  const numbers = Array.from({ length: 6 }, (_, index) => index + 2)
  await Promise.all(numbers.map((n) => report.report(says(n, `m${n}`))))
  expect(await said()).toEqual(numbers.map((n) => `m${n}`))
  expect(appends).toBeLessThan(numbers.length)
})

test('one that is refused is told to who reported it, and holds up nothing that follows', async () => {
  await report.report(says(2, 'before'))
  await expect(report.report(says(3, 'x'.repeat(mostBytes)))).rejects.toThrow(TooLarge)
  await report.report(says(4, 'after'))
  expect(await said()).toEqual(['before', 'after'])
  const reason = 'The agent said too much.'
  await report.end(failed('too_large', reason), null)
  const { state } = await engines.commands.load(task, stream)
  expect(state).toMatchObject({ phase: { status: 'failed' } })
})

test('all that go in one append are told when it is refused: none is taken for written that is not', async () => {
  const outcomes = await Promise.allSettled([
    report.report(says(2, 'first')),
    report.report(says(3, 'x'.repeat(mostBytes))),
    report.report(says(4, 'beside it')),
  ])
  const written = await said()
  const told = outcomes.map(({ status }) => status)
  expect(told).toContain('rejected')
  expect(told.filter((status) => status === 'fulfilled')).toHaveLength(written.length)
})

test('who is evicted hears so with every report, the last as well', async () => {
  const other = reporter(engines.commands, taskId(1), { executionId: executionId(1), attempt: 2 })
  await expect(other.report(says(2, 'late'))).rejects.toThrow(Evicted)
  await expect(other.report(says(3, 'later'))).rejects.toThrow(Evicted)
  await expect(other.end({ kind: 'completed', exitCode: 0 }, null)).rejects.toThrow(Evicted)
  expect(await said()).toEqual([])
})
