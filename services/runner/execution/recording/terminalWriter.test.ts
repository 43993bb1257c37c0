/** A writer of a terminal while the log is unavailable; with the server's log. */
import { expect, test } from 'vitest'
import { terminalStream } from '#domain/kernel/streams.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { executionId, taskId } from '../../../../tests/domain/ids.ts'
import { openTestEngines } from '../../../../tests/server/engines.ts'
import { terminalWriter } from './terminalWriter.ts'

test('a run that was claimed waits for the log before it writes', async () => {
  const engines = await openTestEngines()
  let isAway = true
  const headOf: EventLog['headOf'] = async (stream) => {
    const wasAway = isAway
    isAway = false
    if (wasAway) throw new EngineUnavailable('The event store')
    return engines.log.headOf(stream)
  }
  const deps = { ...engines, log: { ...engines.log, headOf }, words: { tell: () => undefined } }
  const writer = await terminalWriter(deps, taskId(1), 0)
  const data = { executionId: executionId(1), attempt: 1, kind: 'turn', channel: 'stdout' } as const
  await writer.append(TerminalOutputRecorded.of(data, { text: 'hello\n' }))
  expect(writer.head()).toEqual(await engines.log.headOf(terminalStream(taskId(1))))
  await engines.close()
})
