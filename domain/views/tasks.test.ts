/** A task's document: its status, its progress, its cost and its changes. */
import { describe, expect, test } from 'vitest'
import { Task } from '../api/tasks.schema.ts'
import { historyOf } from '../../tests/domain/given.ts'
import { executionId, messageId, projectId, userId } from '../../tests/domain/ids.ts'
import { erased, moment } from '../../tests/domain/recorded.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import {
  AgentStarted,
  ExecutionFailed,
  PullRequestFailed,
  PullRequestOpened,
  PullRequestRequested,
  TaskDeleted,
  ModelChosen,
  TaskUpdated,
  UsageRecorded,
  WorkspacePreparing,
  type TaskEvent,
} from '../task/events.ts'
import { ContextMeasured } from '../task/contextEvents.ts'
import { taskOf, tasksView } from './tasks.ts'
import { foldView } from '../../tests/domain/fold.ts'

const addressOf = ({ imageId }: { imageId: string }) => `/api/images/${imageId}`

type Past = readonly (TaskEvent | readonly TaskEvent[])[]
const documentOf = (...events: Past) => [...foldView(tasksView, new Map(), historyOf(...events)).values()][0]
const preparing = WorkspacePreparing.of({ executionId: executionId(1) })
const used = (inputTokens: number, costUsd: number, model: string | null) =>
  UsageRecorded.of({
    executionId: executionId(1),
    model,
    inputTokens,
    outputTokens: 2,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    costUsd,
  })
const asked = PullRequestRequested.of(
  { requestId: 'request-1', draft: false, automatic: false, rewrites: false },
  { title: 'One', body: '', tree: null },
)

describe('how full the context is', () => {
  const measured = (context: { usedTokens: number; windowTokens: number } | null) =>
    ContextMeasured.of({ executionId: executionId(1), context })
  const half = { usedTokens: 5, windowTokens: 10 }
  const begun = [past.queued, past.started(1), preparing, past.prepared, past.agentStarted(1)]
  const contextAfter = (...events: Past) => documentOf(...begun, ...events)?.context
  const next = AgentStarted.of({ ...past.agentStarted(1).data, resumed: true })

  test('is as it was measured last, and of the conversation that goes on', () => {
    expect(contextAfter()).toBeUndefined()
    expect(contextAfter(measured({ ...half, usedTokens: 1 }), measured(half))).toEqual(half)
    expect(contextAfter(measured(half), measured(null))).toBeNull()
    expect(contextAfter(measured(half), next)).toEqual(half)
  })
  test('is not known of a new conversation, or of another agent', () => {
    expect(contextAfter(measured(half), past.agentStarted(1))).toBeNull()
    expect(contextAfter(measured(half), AgentStarted.of({ ...next.data, agent: 'codex' }))).toBeNull()
  })
})

describe('an execution', () => {
  test('tells each step on its way to the first words of the agent', () =>
    expect(
      documentOf(past.queued, past.started(1), preparing, past.prepared, past.agentStarted(1)),
    ).toMatchObject({
      status: 'running',
      execution: {
        id: executionId(1),
        kind: 'turn',
        turn: 1,
        startedAt: moment,
        endedAt: null,
        steps: [{ step: 'queued' }, { step: 'cloning' }, { step: 'setup' }, { step: 'agent_started' }],
      },
      workspace: 'ready',
      workingBranch: 'flightdeck/add-a-greeting-1',
    }))

  test('counts, and begins anew', () =>
    expect(documentOf(past.failed, past.requested(2, 'retry', { message: 1 }))).toMatchObject({
      status: 'queued',
      progress: 0,
      failure: null,
      execution: {
        turn: 2,
        startedAt: null,
        endedAt: null,
        steps: [{ step: 'queued' }],
        cancelRequested: false,
      },
    }))

  test('shows that it was asked to stop', () =>
    expect(documentOf(past.cancelling)).toMatchObject({ execution: { cancelRequested: true } }))

  test('that failed says why', () =>
    expect(documentOf(past.failed)).toMatchObject({
      status: 'failed',
      failure: { code: 'agent_silent', reason: 'The agent said nothing for 15 minutes.' },
      execution: { endedAt: moment },
    }))

  test('of a command that failed leaves the task as it was', () =>
    expect(documentOf(past.commandRunning(past.completed), past.broke(2))).toMatchObject({
      status: 'completed',
      progress: 100,
      failure: null,
    }))

  test('that ended while the workspace was being prepared leaves none', () =>
    expect(documentOf(past.queued, past.started(1), preparing, past.broke(1))).toMatchObject({
      workspace: 'none',
    }))
})

describe('the progress', () => {
  const tools = (count: number) =>
    Array.from({ length: count }, (_, index) => past.toolStarted(1, `tool-${index}`))
  const after = (count: number) => documentOf(past.running, tools(count))?.progress ?? 0

  test('grows with each tool call and stays below the end', () => {
    const steps = [1, 2, 5, 10, 30, 1_000].map(after)
    expect(steps).toEqual(steps.toSorted((a, b) => a - b))
    expect(steps[0]).toBeGreaterThan(15)
    expect(steps.at(-1)).toBeLessThanOrEqual(95)
  })

  test('is whole when the turn is completed, and only then', () => {
    expect(documentOf(past.completed)).toMatchObject({ progress: 100 })
    expect(documentOf(past.running, tools(1_000), past.broke(1))?.progress).toBeLessThan(100)
  })
})

test('the usage adds up, under the last model that was named', () =>
  expect(documentOf(past.running, used(10, 0.25, 'model-1'), used(5, 0.5, null))?.usage).toEqual({
    inputTokens: 15,
    outputTokens: 4,
    costUsd: 0.75,
    model: 'model-1',
  }))

test('an execution tells what it used itself, and begins with nothing', () => {
  const first = [past.running, used(10, 0.25, 'model-1'), used(5, 0.5, null)]
  expect(documentOf(...first)?.execution?.usage).toEqual({ inputTokens: 15, outputTokens: 4, costUsd: 0.75 })
  const again = [...first, past.broke(1), past.requested(2, 'retry', { message: 1 })]
  expect(documentOf(...again)?.execution).not.toHaveProperty('usage')
  // What comes late of the one before is not of this one.
  expect(documentOf(...again, used(1, 1, null))?.execution).not.toHaveProperty('usage')
})

test('the changes are the last that were recorded', () =>
  expect(documentOf(past.running, past.changed(1), past.changed(3))).toMatchObject({
    changes: { files: 3, additions: 3, deletions: 0, recordedAt: moment },
    recorded: {
      currentBranch: 'flightdeck/add-a-greeting-1',
      baseBranch: 'main',
      truncated: false,
      blob: null,
      tree: 'd'.repeat(40),
    },
  }))

describe('how an execution ended', () => {
  const outcomeOf = (...events: Past) => documentOf(...events)?.execution?.outcome

  test.each([
    ['runs', past.running, undefined],
    ['is completed', past.completed, 'completed'],
    ['failed', past.failed, 'failed'],
    ['was cancelled', past.cancelled, 'cancelled'],
  ])('is told of a turn that %s', (_, events, outcome) => expect(outcomeOf(events)).toBe(outcome))

  test.each([
    ['exits with 0', past.succeeded(2, 0), 'completed'],
    ['exits with 3', past.succeeded(2, 3), 'failed'],
    ['was cancelled', past.stopped(2), 'cancelled'],
  ])('is told of a command that %s, and the task keeps its status', (_, end, outcome) =>
    expect(documentOf(past.commandRunning(past.completed), end)).toMatchObject({
      status: 'completed',
      execution: { kind: 'command', outcome },
    }),
  )
})

describe('a pull request', () => {
  const url = 'https://code.example/acme/hello/pull/7'
  const opened = PullRequestOpened.of(
    { requestId: 'request-1' },
    { number: 7, url, headCommit: 'c'.repeat(40) },
  )

  test('is pending until it has an outcome', () => {
    expect(documentOf(past.completed, asked)).toMatchObject({ pullRequestPending: true, prNumber: null })
    expect(documentOf(past.completed, asked, opened)).toMatchObject({
      pullRequestPending: false,
      prNumber: 7,
      prUrl: url,
    })
  })

  test('that could not be updated stays as it was', () =>
    expect(
      documentOf(
        past.completed,
        asked,
        opened,
        asked,
        PullRequestFailed.of({ requestId: 'request-1', code: 'code_host_refused' }, { reason: 'No.' }),
      ),
    ).toMatchObject({ pullRequestPending: false, prNumber: 7, prUrl: url }))

  test('that was not published says by which fault, until it is asked for again', () => {
    const code = 'github_not_connected'
    const failed = PullRequestFailed.of({ requestId: 'request-1', code }, { reason: 'No.' })
    expect(documentOf(past.completed, asked)).not.toHaveProperty('publishingFault')
    expect(documentOf(past.completed, asked, failed)).toMatchObject({ publishingFault: code })
    expect(documentOf(past.completed, asked, failed, asked)).not.toHaveProperty('publishingFault')
  })
})

test('the model that was asked for stands as it was sent', () =>
  expect(documentOf(past.queued)).toMatchObject({ codexModel: 'o4-mini' }))

test('a model that is chosen later takes its place, with the agent that it is for', () => {
  const chosen = ModelChosen.of({ agent: 'cursor' }, { model: 'auto' })
  expect(documentOf(past.queued)).toMatchObject({ modelAgent: 'claude' })
  expect(documentOf(past.running, chosen)).toMatchObject({
    codexModel: 'auto',
    modelAgent: 'cursor',
    agent: 'claude',
  })
})

test('an effort is shown until the agent has its own again', () => {
  const chosen = ModelChosen.of({ agent: 'claude', effort: 'high' }, { model: 'opus' })
  const back = ModelChosen.of({ agent: 'claude' }, { model: 'opus' })
  expect(documentOf(past.running, chosen)).toMatchObject({ codexModel: 'opus', effort: 'high' })
  expect(documentOf(past.running, chosen, back)).not.toHaveProperty('effort')
})

test('an update changes the words', () =>
  expect(documentOf(past.running, TaskUpdated.of({}, { title: 'Greet', description: 'Hi' }))).toMatchObject({
    title: 'Greet',
    description: 'Hi',
  }))

test('a deleted task has no document', () =>
  expect(documentOf(past.completed, TaskDeleted.of({}))).toBeUndefined())

describe('as the API shows it', () => {
  test.each([
    ['queued', past.queued],
    [
      'running',
      [...past.running, past.prepared, past.agentStarted(1), past.changed(1), used(1, 0.1, 'model-1')],
    ],
    ['failed', past.failed],
  ])('a %s task fits the contract', (status, events) => {
    const document = documentOf(events)
    const answer = document && taskOf(document, undefined, addressOf)
    expect(Task.parse(answer)).toStrictEqual(answer)
    expect(answer).toMatchObject({
      status,
      owner: userId(1),
      projectId: projectId(1),
      project: { id: projectId(1) },
    })
  })

  test('github 3.2: a turn that failed on a wait of the code host says until when', () => {
    const at = '2026-02-01T10:01:00.000Z'
    const limited = (retryAt: string | null) =>
      ExecutionFailed.of(
        {
          executionId: executionId(1),
          messageId: messageId(1),
          code: 'code_host',
          exitCode: null,
          terminal: null,
          retryAt,
        },
        { reason: 'GitHub asks us to wait.' },
      )
    for (const [event, shown] of [
      [limited(at), { retryAt: at }],
      [limited(null), {}],
    ] as const) {
      const document = documentOf([...past.running, event])
      const answer = document && taskOf(document, undefined, addressOf)
      expect(Task.parse(answer)).toStrictEqual(answer)
      expect(answer?.failure).toEqual({ code: 'code_host', reason: 'GitHub asks us to wait.', ...shown })
    }
  })

  test('an erased task fits the contract', () => {
    const [document] = foldView(
      tasksView,
      new Map(),
      historyOf(past.failed, past.changed(1)).map(erased),
    ).values()
    const answer = document && taskOf(document, undefined, addressOf)
    expect(Task.parse(answer)).toStrictEqual(answer)
    expect(answer).toMatchObject({
      title: '',
      codexModel: null,
      status: 'failed',
      failure: { code: 'agent_silent', reason: '' },
    })
  })
})

test('the version is another one since documents tell of later work', () => {
  const opened = PullRequestOpened.of({ requestId: 'request-1' }, { number: 7, url: '', headCommit: '' })
  const folded = documentOf(past.completed, asked, opened, past.waits(2), past.requested(2))
  const asOf = new Map([
    [1, undefined],
    [2, true],
  ])
  expect(asOf.has(tasksView.version)).toBe(true)
  expect(folded?.laterWork).toBe(asOf.get(tasksView.version))
})
