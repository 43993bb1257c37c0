import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { erased, recorded } from '../../tests/domain/recorded.ts'
import { executionId, taskId } from '../../tests/domain/ids.ts'
import {
  agentStarted,
  broke,
  changed,
  commandRunning,
  completed,
  created,
  description,
  prepared,
  queued,
  requested,
  running,
  started,
  stopped,
  succeeded,
  waits,
} from '../../tests/domain/taskHistories.ts'
import { lives, logOf } from '../../tests/domain/taskLives.ts'
import {
  PullRequestOpened,
  ToolFinished,
  ToolStarted,
  UsageRecorded,
  WorkspacePreparing,
  type TaskEvent,
  type ToolKind,
} from '../task/events.ts'
import { PullRequestDraftRequested } from '../task/codeHost/feedbackEvents.ts'
import { TaskForked, TurnsUndone, WorkspaceRestored } from '../task/snapshotEvents.ts'
import { commitsIn } from './toolRows.ts'
import { plainText } from './excerpt.ts'
import { rowAt } from './row.ts'
import { sectionAt, timelineOf } from './timeline.ts'
import { randomRuns } from '../../tests/longRun.ts'

const names = { person: 'Ada', repository: 'northwind/parcel-tracker' }
const second = (n: number) => new Date(Date.UTC(2026, 0, 1, 14, 0, n)).toISOString()

/** The timeline of events that happened a second apart. */
const timeline = (events: readonly TaskEvent[]) =>
  timelineOf(
    events.map((event, revision) => recorded(event, { revision, at: second(revision) })),
    names,
  )
const sentences = (events: readonly TaskEvent[]) =>
  timeline(events).map(({ rows }) => rows.map(({ sentence }) => sentence))

const tool = (toolId: string, kind: ToolKind, target: string) =>
  ToolStarted.of(
    { executionId: executionId(1), toolId, kind, parentToolId: null },
    { name: kind, target, input: '{}' },
  )
const toolEnd = (toolId: string, exitCode: number | null = null, output = '') =>
  ToolFinished.of(
    {
      executionId: executionId(1),
      toolId,
      ok: (exitCode ?? 0) === 0,
      durationMs: 1_500,
      exitCode,
      additions: null,
      deletions: null,
    },
    { summary: '', output },
  )
const used = (costUsd: number) =>
  UsageRecorded.of({
    executionId: executionId(1),
    model: 'opus',
    inputTokens: 1,
    outputTokens: 1,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    costUsd,
  })

describe('sections', () => {
  test('each turn is one, with its prompt and how it ended', () => {
    const [first, next] = timeline([...completed, waits(2), requested(2), started(2), broke(2)])
    expect(first).toMatchObject({
      number: 1,
      kind: 'turn',
      prompt: description,
      outcome: 'completed',
      revision: 0,
    })
    expect(next).toMatchObject({
      number: 2,
      prompt: 'message 2',
      outcome: 'failed',
      revision: 6,
      at: second(6),
    })
    expect(next?.rows.map(({ sentence }) => sentence)).toEqual(['Message from Ada', 'The turn failed'])
    expect(next?.rows[0]?.detail).toBe('')
    expect(first?.durationMs).toBe(2_000)
  })

  test('what was queued during a turn is told where it happened', () => {
    const [first, next] = timeline([...running, waits(2), succeeded(1), requested(2), started(2)])
    expect(first?.rows.map(({ detail }) => detail)).toContain('message 2')
    expect(next).toMatchObject({ prompt: 'message 2', outcome: 'running', durationMs: null })
  })

  test('calls that run at once are one row, which failed if one of them failed', () => {
    const both = [...running, tool('a', 'read', 'a.ts'), tool('b', 'read', 'b.ts')]
    const [section] = timeline([...both, toolEnd('a', 1), toolEnd('b')])
    expect(section?.rows.at(-1)).toMatchObject({
      sentence: 'Read 2 files',
      outcome: 'failed',
      detail: 'failed',
    })
  })

  test('a command is one, and fails by its exit code', () => {
    const command = commandRunning(completed)
    expect(timeline(command)[1]).toMatchObject({ kind: 'command', prompt: 'message 2', outcome: 'running' })
    expect(timeline([...command, succeeded(2, 3)])[1]).toMatchObject({ outcome: 'failed' })
  })

  test('a task that waits has one that waits', () => {
    expect(timeline(queued)).toMatchObject([{ number: 1, outcome: 'queued', rows: [{}, {}] }])
    expect(timeline([created])).toMatchObject([{ executionId: '', rows: [{ sentence: 'Task created' }] }])
  })

  test('what runs when a turn is stopped was stopped with it', () => {
    const [section] = timeline([...running, tool('a', 'run', 'npm test'), stopped(1)])
    expect(section?.rows.at(-2)).toMatchObject({ sentence: 'Ran npm test', outcome: 'cancelled' })
  })
})

describe('rows', () => {
  test('tool calls of a kind that comes in numbers are one', () => {
    expect(
      sentences([
        ...running,
        tool('a', 'read', 'a.ts'),
        toolEnd('a'),
        tool('b', 'read', 'b.ts'),
        toolEnd('b'),
        tool('c', 'edit', 'a.ts'),
        toolEnd('c'),
        tool('d', 'edit', 'b.ts'),
        toolEnd('d'),
        tool('e', 'run', 'npm test'),
        toolEnd('e', 1),
        tool('f', 'run', 'npm test'),
        toolEnd('f', 0),
      ])[0]?.slice(2),
    ).toEqual(['Read 2 files', 'Edited a.ts and b.ts', 'Ran npm test', 'Ran npm test'])
  })

  test('a command that failed says so, and how long it took', () => {
    const [section] = timeline([...running, tool('a', 'run', 'npm test'), toolEnd('a', 1)])
    expect(section?.rows.at(-1)).toMatchObject({
      outcome: 'failed',
      detail: 'failed, exit 1',
      durationMs: 1_500,
      who: { agent: 'claude' },
    })
  })

  test('a commit is told of by what git printed', () => {
    const output = '[main 41d9e7c] Claim an attempt\n 1 file changed\n'
    const rows = timeline([...running, tool('a', 'run', 'git commit -am x'), toolEnd('a', 0, output)])[0]
      ?.rows
    expect(rows?.at(-1)).toMatchObject({ kind: 'commit', sentence: 'Commit 41d9e7c “Claim an attempt”' })
  })

  test('or by how far the work is ahead', () => {
    const ahead = changed(1)
    const commits = timeline([...running, { ...ahead, data: { ...ahead.data, ahead: 2 } }])[0]?.rows
    expect(commits?.map(({ sentence }) => sentence)).toContain('Made 2 commits')
  })

  test('the cost counts for the turn and for the last thing that the agent did', () => {
    const [section] = timeline([...running, tool('a', 'read', 'a.ts'), toolEnd('a'), used(0.02), used(0.01)])
    expect(section?.costUsd).toBeCloseTo(0.03)
    expect(section?.rows.at(-1)?.costUsd).toBeCloseTo(0.03)
  })

  test('cloning, the agent and the pull request are told in a sentence', () => {
    const opened = PullRequestOpened.of(
      { requestId: 'r' },
      { number: 232, url: 'https://code.example/232', headCommit: 'c'.repeat(40) },
    )
    expect(
      sentences([
        ...queued,
        started(1),
        WorkspacePreparing.of({ executionId: executionId(1) }),
        prepared,
        agentStarted(1),
        changed(1),
        opened,
      ])[0],
    ).toEqual([
      'Task created',
      'Message from Ada',
      'Cloned northwind/parcel-tracker at bbbbbbb',
      'Claude 2.1.0 started',
      '1 file changed',
      'Pull request #232 opened',
    ])
  })
})

test('a draft is told as asked for: what the code host made of it is told as it says', () => {
  const asked = (draft: boolean) => PullRequestDraftRequested.of({ draft })
  expect(sentences([...running, asked(true), asked(false)])[0]?.slice(-2)).toEqual([
    'Asked to make the pull request a draft',
    'Asked to mark the pull request as ready for review',
  ])
})

test('turns that were undone, and tasks that began from one, are told', () => {
  const undo = TurnsUndone.of({
    undoId: executionId(5),
    executionId: executionId(1),
    undone: [executionId(1)],
    redone: [],
  })
  const forked = TaskForked.of({ taskId: taskId(2), executionId: executionId(1) }, { title: 'Another way' })
  const back = WorkspaceRestored.of({ executionId: executionId(5), kept: 0 }, { keptPaths: [] })
  expect(sentences([...completed, forked, undo, back])[0]?.slice(-3)).toEqual([
    'A new task began from here',
    'Undid 1 turn',
    'Put the files back as they were',
  ])
})

test('any life of a task has a timeline, with its words and without', () =>
  fc.assert(
    fc.property(lives(), (life) => {
      const log = logOf(life)
      const executions = log.filter(({ type }) => type === 'ExecutionRequested').length
      for (const events of [log, log.map(erased)]) {
        const sections = timelineOf(events, names)
        expect(sections).toHaveLength(Math.max(executions, log.length > 0 ? 1 : 0))
        expect(sections.map(({ number }) => number)).toEqual(sections.map((_, index) => index + 1))
        for (const { rows } of sections) for (const { sentence } of rows) expect(sentence).not.toBe('')
      }
    }),
    { numRuns: randomRuns(60) },
  ))

test.each([
  ['git commit -m x', '[main (root-commit) 1234567] First\n', [{ id: '1234567', subject: 'First' }]],
  ['git commit', '[detached HEAD abcdef0] Fix\n', [{ id: 'abcdef0', subject: 'Fix' }]],
  ['npm test', '[main 1234567] no commit\n', []],
  ['git commit', 'nothing to commit, working tree clean\n', []],
])('%s that prints %s made %j', (command, output, commits) => {
  expect(commitsIn(command, output)).toEqual(commits)
})

describe('recorder point 12: what a turn changed', () => {
  const changes = (files: number, additions: number, tree: string) => {
    const event = changed(1)
    return {
      ...event,
      data: { ...event.data, files, additions, deletions: 0 },
      content: { ...event.content, tree },
    }
  }
  const said = (events: readonly TaskEvent[]) =>
    timeline([...running, ...events]).flatMap(({ rows }) =>
      rows.flatMap(({ kind, sentence, detail }) => (kind === 'changes' ? [`${sentence} ${detail}`] : [])),
    )

  test('is told, and nothing where it changed nothing', () => {
    const [a, b] = ['a'.repeat(40), 'b'.repeat(40)]
    expect(said([changes(4, 7, a), changes(4, 7, a)])).toEqual(['4 files changed +7 −0'])
    expect(said([changes(0, 0, a)])).toEqual([])
    expect(said([changes(4, 7, a), changes(5, 9, b), changes(0, 0, a)])).toEqual([
      '4 files changed +7 −0',
      '5 files now differ from main +9 −0, before +7 −0',
      'No file differs from main any more +0 −0, before +9 −0',
    ])
    expect(said([changes(1, 7, a), changes(1, 7, b)])).toEqual([
      '1 file changed +7 −0',
      '1 file now differs from main +7 −0, before +7 −0',
    ])
  })
})

describe('recorder point 5: at a moment', () => {
  const [section] = timeline([
    ...running,
    tool('a', 'run', 'npm test'),
    used(0.5),
    toolEnd('a', 1),
    succeeded(1),
  ])
  const row = section?.rows.find(({ kind }) => kind === 'command')
  const from = running.length

  test('what goes on has no outcome, no duration and no cost yet', () => {
    expect(row && rowAt(row, from)).toMatchObject({
      outcome: 'running',
      durationMs: null,
      costUsd: 0,
      detail: '',
    })
    expect(row && rowAt(row, from + 2)).toEqual(row)
    expect(section && sectionAt(section, from)).toMatchObject({
      outcome: 'running',
      durationMs: null,
      costUsd: 0,
    })
    expect(section && sectionAt(section, 1)).toMatchObject({ outcome: 'queued' })
    expect(section && sectionAt(section, from + 3)).toEqual(section)
  })

  test('what comes later is named without how it went', () => {
    const last = section?.rows.at(-1)
    expect(last).toMatchObject({ sentence: 'The turn finished', outcome: 'completed' })
    expect(last && rowAt(last, from)).toMatchObject({ sentence: 'The turn ended', outcome: null })
  })

  test('nothing is said but what was known then', () =>
    fc.assert(
      fc.property(lives(), fc.nat(), (life, wanted) => {
        const log = logOf(life)
        const revision = log.length === 0 ? 0 : wanted % log.length
        const known = timelineOf(log.slice(0, revision + 1), names).flatMap(({ rows }) => rows)
        const shown = timelineOf(log, names).flatMap(({ rows }) => rows.map((row) => rowAt(row, revision)))
        expect(
          shown.filter(({ outcome, durationMs, costUsd, detail, ...row }) => {
            const then = known.find((each) => each.revision === row.revision && each.kind === row.kind)
            return (
              (outcome !== null && outcome !== 'running' && outcome !== then?.outcome) ||
              (durationMs !== null && durationMs !== then?.durationMs) ||
              (costUsd !== 0 && costUsd !== then?.costUsd) ||
              (detail !== '' && detail !== then?.detail)
            )
          }),
        ).toEqual([])
      }),
      { numRuns: randomRuns(60) },
    ))
})

test.each([
  [
    'All of it is **done**, see `a.ts` and [the page](https://x.example).',
    'All of it is done, see a.ts and the page.',
  ],
  ['# Head\n- one\n- *two*\n', 'Head\none\ntwo\n'],
  ['2 * 3 * 4 and snake_case_name and a**b', '2 * 3 * 4 and snake_case_name and a**b'],
  ['```ts\nconst a = 1\n```', '\nconst a = 1\n'],
])('recorder point 10: %j is read as %j', (markdown, text) => expect(plainText(markdown)).toBe(text))
