/** The command log: a tool call from its start to its end. */
import { describe, expect, test } from 'vitest'
import { LogEntry } from '../api/chat.ts'
import { historyOf } from '../../tests/domain/given.ts'
import { executionId } from '../../tests/domain/ids.ts'
import { erased } from '../../tests/domain/recorded.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { ToolFinished, type TaskEvent } from '../task/events.ts'
import { logEntryOf, logView } from './log.ts'
import { foldView } from './view.ts'

const started = past.toolStarted(1, 'tool-1')
const finished = (ok: boolean) =>
  ToolFinished.of(
    {
      executionId: executionId(1),
      toolId: 'tool-1',
      ok,
      durationMs: 1_200,
      exitCode: ok ? 0 : 1,
      additions: null,
      deletions: null,
    },
    { summary: '12 passed', output: 'ok' },
  )
const logOf = (...events: readonly TaskEvent[]) => historyOf<TaskEvent>(...events)
const entryOf = (log: ReturnType<typeof logOf>) =>
  foldView(logView, new Map(), log).get(`${executionId(1)}:tool-1`)

describe('a tool call', () => {
  test('runs until it ends', () =>
    expect(entryOf(logOf(started))).toMatchObject({
      status: 'running',
      kind: 'run',
      name: 'Bash',
      target: 'npm test',
      output: null,
      durationMs: null,
    }))

  test.each([
    [true, 'completed', 0],
    [false, 'failed', 1],
  ])('that ends with ok: %s is %s', (ok, status, exitCode) =>
    expect(entryOf(logOf(started, finished(ok)))).toMatchObject({
      status,
      exitCode,
      durationMs: 1_200,
      summary: '12 passed',
      output: 'ok',
    }),
  )

  test('whose start is not known is none', () => expect(entryOf(logOf(finished(true)))).toBeUndefined())

  test('fits the contract, erased or not', () => {
    for (const log of [logOf(started, finished(true)), logOf(started, finished(true)).map(erased)]) {
      const entry = entryOf(log)
      const answer = entry && logEntryOf(entry)
      expect(LogEntry.parse(answer)).toStrictEqual(answer)
    }
  })
})
