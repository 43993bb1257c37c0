/** What a comparison shows about a task's runs. */
import { describe, expect, test } from 'vitest'
import { taskId, executionId } from '../../tests/domain/ids.ts'
import { recorded } from '../../tests/domain/recorded.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import {
  TaskCreatedToCompare,
  TaskDeleted,
  ToolFinished,
  ToolStarted,
  type TaskEvent,
} from '../task/events.ts'
import { isTestCommand, runFactsView, runningMsOf } from './runFacts.ts'
import { foldView } from '../../tests/domain/fold.ts'

/** What the view has of the task after these events, the nth of which happened at second n. */
function after(...events: readonly TaskEvent[]) {
  const log = events.map((event, revision) =>
    recorded(event, { revision, at: second(revision), stream: `task-${taskId(1)}` }),
  )
  return foldView(runFactsView, new Map(), log).get(taskId(1))
}
const second = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString()

const command = (toolId: string, target: string, kind: 'run' | 'read' = 'run') =>
  ToolStarted.of(
    { executionId: executionId(1), toolId, kind, parentToolId: null },
    { name: 'Bash', target, input: '' },
  )
const finished = (toolId: string, exitCode: number | null, ok = exitCode === 0) =>
  ToolFinished.of(
    { executionId: executionId(1), toolId, ok, durationMs: 1, exitCode, additions: null, deletions: null },
    { summary: '', output: '' },
  )

describe('the facts of a task', () => {
  test('say how long it ran, also while it runs', () => {
    const once = [past.created, past.started(1), past.succeeded(1)]
    expect(after(...once)).toMatchObject({ runningMs: 1_000, runs: null })
    const running = after(...once, past.requested(2), past.started(2))
    expect(running && runningMsOf(running, new Date(second(10)))).toBe(1_000 + 6_000)
    expect(running && runningMsOf(running, new Date(second(0)))).toBe(1_000)
  })

  test('say which tests ran, and how the last one ended', () => {
    const begun = [past.created, past.started(1)]
    expect(after(...begun, command('a', 'ls'), finished('a', 0))).toMatchObject({
      tests: { runs: 0, lastPassed: null },
    })
    const one = [...begun, command('a', 'npm test'), command('b', 'npm test', 'read')]
    expect(after(...one)).toMatchObject({ tests: { runs: 1, lastPassed: null }, openTests: ['a'] })
    expect(after(...one, finished('b', 1), finished('a', 0))).toMatchObject({
      tests: { runs: 1, lastPassed: true },
    })
    expect(after(...one, finished('a', 0), command('c', 'go test ./...'), finished('c', 2))).toMatchObject({
      tests: { runs: 2, lastPassed: false },
    })
  })

  test('say where it began: where it was told to, or where its first workspace did', () => {
    expect(after(past.created)?.baseCommit).toBeNull()
    expect(after(past.created, past.prepared)?.baseCommit).toBe('b'.repeat(40))
    const told = TaskCreatedToCompare.of({ taskId: taskId(2) }, { title: '', baseCommit: 'c'.repeat(40) })
    expect(after(past.created, told, past.prepared)?.baseCommit).toBe('c'.repeat(40))
  })

  test('go with the task', () => {
    expect(after(past.created, past.started(1), TaskDeleted.of({}))).toBeUndefined()
  })
})

describe('commands that run tests', () => {
  test.each([
    'npm test',
    'npm run test -- --watch=false',
    'pnpm test',
    'cd web && yarn test',
    'npx vitest run src',
    'python -m pytest -q',
    'python3 -m unittest',
    'go test ./...',
    'cargo test --workspace',
    'cargo nextest run',
    './gradlew :app:test',
    'make -j4 check',
    'node --test',
  ])('%s', (command) => expect(isTestCommand(command)).toBe(true))

  test.each([
    'npm install',
    'ls test',
    'cat tests/a.py',
    'git checkout test',
    'go build ./...',
    'make',
    'echo latest',
  ])('not %s', (command) => expect(isTestCommand(command)).toBe(false))
})
