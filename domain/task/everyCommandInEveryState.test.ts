/** Every command in every state that matters: what happens, or why not. The other tests say with what contents. */
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../kernel/decider.ts'
import type { FaultCode } from '../kernel/errors.ts'
import { stateAfter } from '../../tests/domain/given.ts'
import { creating } from '../../tests/domain/creating.ts'
import { executionId, messageId, taskId } from '../../tests/domain/ids.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import type { TaskCommand } from './commands.ts'
import type { TaskEvent } from './events.ts'
import { task } from './task.ts'

const ready = [past.prepared, past.changed(1)]

const states = {
  nothing: [],
  queued: past.queued,
  running: [...past.running, ...ready],
  cancelling: [...past.cancelling, ...ready],
  completed: [...past.running, ...ready, past.succeeded(1)],
  failed: [...past.running, ...ready, past.broke(1)],
  cancelled: [...past.running, ...ready, past.stopped(1)],
  deleted: past.deleted,
} satisfies Record<string, readonly TaskEvent[]>

const fence = { executionId: executionId(1), attempt: 1 }

const commands: { readonly [Type in TaskCommand['type']]: Extract<TaskCommand, { type: Type }> } = {
  CreateTask: { ...creating(), title: past.title, description: past.description },
  UpdateTask: { type: 'UpdateTask', title: 'Another title' },
  DeleteTask: { type: 'DeleteTask' },
  SendMessage: {
    type: 'SendMessage',
    messageId: messageId(2),
    kind: 'turn',
    agent: null,
    message: 'And the changelog.',
    images: [],
    executionId: executionId(2),
  },
  PostNote: { type: 'PostNote', messageId: messageId(2), message: 'Images cannot be attached yet.' },
  WithdrawMessage: { type: 'WithdrawMessage', messageId: messageId(1) },
  EditMessage: { type: 'EditMessage', messageId: messageId(1), message: 'Words anew.' },
  SteerMessage: { type: 'SteerMessage', messageId: messageId(1) },
  DeliverSteering: { type: 'DeliverSteering', fence, messageId: messageId(1) },
  ReorderQueue: { type: 'ReorderQueue', messageIds: [messageId(1)] },
  RequestExecution: { type: 'RequestExecution', executionId: executionId(2) },
  RetryTask: { type: 'RetryTask', executionId: executionId(2) },
  CancelExecution: { type: 'CancelExecution' },
  StartExecution: {
    type: 'StartExecution',
    executionId: executionId(1),
    afterAttempt: 0,
    runnerId: 'runner-1',
  },
  RecordProgress: { type: 'RecordProgress', fence, progress: [past.toolStarted(1, 'tool-1')] },
  EndExecution: {
    type: 'EndExecution',
    fence,
    outcome: { kind: 'completed', exitCode: 0 },
    terminal: null,
    nextExecutionId: executionId(2),
  },
  RequestPullRequest: {
    type: 'RequestPullRequest',
    requestId: 'request-1',
    title: null,
    body: null,
    draft: false,
    autoUpdate: null,
  },
  RecordChanges: { type: 'RecordChanges', requestId: 'request-1', changes: past.changed(2) },
  SettlePullRequest: {
    type: 'SettlePullRequest',
    requestId: 'request-1',
    outcome: { kind: 'failed', code: 'code_host_refused', reason: 'GitHub refused the request.' },
    nextRequestId: 'request-2',
  },
  ObservePullRequest: {
    type: 'ObservePullRequest',
    observed: {
      number: 7,
      nodeId: 'PR_7',
      repositoryId: '1',
      state: 'merged',
      draft: false,
      headCommit: 'c'.repeat(40),
      updatedAt: '2026-01-31T12:00:00Z',
      mergedAt: '2026-01-31T12:00:00Z',
      mergedBy: 'grace',
    },
  },
  MissPullRequest: { type: 'MissPullRequest', number: 7, code: 'not_found' },
  RequestDraft: { type: 'RequestDraft', draft: true },
  ReceiveFeedback: {
    type: 'ReceiveFeedback',
    feedbackId: messageId(5),
    data: {
      kind: 'comment',
      right: 'write',
      isKnown: true,
      verdict: null,
    },
    content: {
      number: 7,
      writtenAt: '2026-01-31T00:00:00Z',
      author: { id: '9', login: 'grace' },
      url: null,
      headCommit: 'a'.repeat(40),
      reviewId: null,
      commentId: '1',
      body: 'Please rename it.',
      comments: [],
      check: null,
    },
    automatic: null,
  },
  SendFeedback: {
    type: 'SendFeedback',
    feedbackId: messageId(5),
    messageId: messageId(2),
    executionId: executionId(2),
    message: 'Please rename it.',
    content: null,
    right: 'write',
  },
  DismissFeedback: { type: 'DismissFeedback', feedbackId: messageId(5) },
  RestoreFeedback: { type: 'RestoreFeedback', feedbackId: messageId(5) },
  SettleFeedback: {
    type: 'SettleFeedback',
    feedbackId: messageId(5),
    outcome: { kind: 'answered', replyIds: ['2'] },
  },
  RecordFork: { type: 'RecordFork', taskId: taskId(2), executionId: executionId(1), title: 'Another task' },
  AddAlternative: { type: 'AddAlternative', taskId: taskId(2), title: 'Another task', deleted: [] },
  RecordAlternative: { type: 'RecordAlternative', taskId: taskId(2), title: 'Another task' },
  RemoveAlternative: { type: 'RemoveAlternative', taskId: taskId(2) },
  UndoTurn: { type: 'UndoTurn', undoId: executionId(3), executionId: executionId(1) },
  RecordSnapshot: {
    type: 'RecordSnapshot',
    undoId: executionId(3),
    snapshot: past.snapshotTaken(1),
  },
  RecordRestore: { type: 'RecordRestore', executionId: executionId(3), keptPaths: [], changes: null },
}

type Expected = FaultCode | readonly TaskEvent['type'][]
type StateName = keyof typeof states

const gone = { nothing: 'not_found', deleted: 'not_found' } as const
const nowhere = {
  ...gone,
  queued: 'evicted',
  running: 'evicted',
  cancelling: 'evicted',
  completed: 'evicted',
  failed: 'evicted',
  cancelled: 'evicted',
} as const

const table: { readonly [Type in TaskCommand['type']]: Readonly<Record<StateName, Expected>> } = {
  CreateTask: {
    nothing: ['TaskCreated', 'MessageQueued', 'ExecutionRequested'],
    queued: 'already_exists',
    running: 'already_exists',
    cancelling: 'already_exists',
    completed: 'already_exists',
    failed: 'already_exists',
    cancelled: 'already_exists',
    deleted: 'already_exists',
  },
  UpdateTask: {
    ...gone,
    queued: ['TaskUpdated'],
    running: ['TaskUpdated'],
    cancelling: ['TaskUpdated'],
    completed: ['TaskUpdated'],
    failed: ['TaskUpdated'],
    cancelled: ['TaskUpdated'],
  },
  DeleteTask: {
    ...gone,
    queued: ['TaskDeleted'],
    running: ['TaskDeleted'],
    cancelling: ['TaskDeleted'],
    completed: ['TaskDeleted'],
    failed: ['TaskDeleted'],
    cancelled: ['TaskDeleted'],
  },
  SendMessage: {
    ...gone,
    queued: ['MessageQueued'],
    running: ['MessageQueued'],
    cancelling: ['MessageQueued'],
    completed: ['MessageQueued', 'ExecutionRequested'],
    failed: ['MessageQueued', 'ExecutionRequested'],
    cancelled: ['MessageQueued', 'ExecutionRequested'],
  },
  PostNote: {
    ...gone,
    queued: ['MessagePosted'],
    running: ['MessagePosted'],
    cancelling: ['MessagePosted'],
    completed: ['MessagePosted'],
    failed: ['MessagePosted'],
    cancelled: ['MessagePosted'],
  },
  WithdrawMessage: {
    ...gone,
    queued: 'message_delivered',
    running: 'message_delivered',
    cancelling: 'message_delivered',
    completed: 'message_delivered',
    failed: 'message_delivered',
    cancelled: 'message_delivered',
  },
  EditMessage: {
    ...gone,
    queued: 'message_delivered',
    running: 'message_delivered',
    cancelling: 'message_delivered',
    completed: 'message_delivered',
    failed: 'message_delivered',
    cancelled: 'message_delivered',
  },
  SteerMessage: {
    ...gone,
    queued: 'message_delivered',
    running: 'message_delivered',
    cancelling: 'message_delivered',
    completed: 'message_delivered',
    failed: 'message_delivered',
    cancelled: 'message_delivered',
  },
  // It has been told already.
  DeliverSteering: { ...nowhere, running: [], cancelling: [] },
  // The one message there is has been given away: nothing waits.
  ReorderQueue: {
    ...gone,
    queued: 'queue_changed',
    running: 'queue_changed',
    cancelling: 'queue_changed',
    completed: 'queue_changed',
    failed: 'queue_changed',
    cancelled: 'queue_changed',
  },
  RequestExecution: {
    ...gone,
    queued: [],
    running: 'task_running',
    cancelling: 'task_running',
    completed: ['ExecutionRequested'],
    failed: ['ExecutionRequested'],
    cancelled: ['ExecutionRequested'],
  },
  RetryTask: {
    ...gone,
    queued: 'task_running',
    running: 'task_running',
    cancelling: 'task_running',
    completed: ['ExecutionRequested'],
    failed: ['ExecutionRequested'],
    cancelled: ['ExecutionRequested'],
  },
  CancelExecution: {
    ...gone,
    queued: ['ExecutionCancelled'],
    running: ['CancellationRequested'],
    cancelling: [],
    completed: 'not_running',
    failed: 'not_running',
    cancelled: 'not_running',
  },
  // What runs was claimed once: who saw nobody claim it came too late.
  StartExecution: { ...nowhere, queued: ['ExecutionStarted', 'MessageDelivered'] },
  RecordProgress: { ...nowhere, running: ['ToolStarted'], cancelling: ['ToolStarted'] },
  EndExecution: { ...nowhere, running: ['ExecutionCompleted'], cancelling: ['ExecutionCompleted'] },
  RequestPullRequest: {
    ...gone,
    queued: 'not_initialized',
    running: 'task_running',
    cancelling: 'task_running',
    completed: ['PullRequestRequested'],
    failed: ['PullRequestRequested'],
    cancelled: ['PullRequestRequested'],
  },
  RecordChanges: nowhere,
  SettlePullRequest: nowhere,
  // Nothing was saved of the one turn that there is.
  ObservePullRequest: {
    ...gone,
    queued: [],
    running: [],
    cancelling: [],
    completed: [],
    failed: [],
    cancelled: [],
  },
  MissPullRequest: {
    ...gone,
    queued: [],
    running: [],
    cancelling: [],
    completed: [],
    failed: [],
    cancelled: [],
  },
  // There is no pull request.
  RequestDraft: {
    ...gone,
    queued: 'not_found',
    running: 'not_found',
    cancelling: 'not_found',
    completed: 'not_found',
    failed: 'not_found',
    cancelled: 'not_found',
  },
  ReceiveFeedback: {
    ...gone,
    queued: [],
    running: [],
    cancelling: [],
    completed: [],
    failed: [],
    cancelled: [],
  },
  SendFeedback: {
    ...gone,
    queued: 'not_found',
    running: 'not_found',
    cancelling: 'not_found',
    completed: 'not_found',
    failed: 'not_found',
    cancelled: 'not_found',
  },
  DismissFeedback: {
    ...gone,
    queued: 'not_found',
    running: 'not_found',
    cancelling: 'not_found',
    completed: 'not_found',
    failed: 'not_found',
    cancelled: 'not_found',
  },
  RestoreFeedback: {
    ...gone,
    queued: 'not_found',
    running: 'not_found',
    cancelling: 'not_found',
    completed: 'not_found',
    failed: 'not_found',
    cancelled: 'not_found',
  },
  SettleFeedback: {
    ...gone,
    queued: 'not_found',
    running: 'not_found',
    cancelling: 'not_found',
    completed: 'not_found',
    failed: 'not_found',
    cancelled: 'not_found',
  },
  RecordFork: {
    ...gone,
    queued: 'not_found',
    running: 'no_snapshot',
    cancelling: 'no_snapshot',
    completed: 'no_snapshot',
    failed: 'no_snapshot',
    cancelled: 'no_snapshot',
  },
  AddAlternative: {
    ...gone,
    queued: ['AlternativeAdded'],
    running: ['AlternativeAdded'],
    cancelling: ['AlternativeAdded'],
    completed: ['AlternativeAdded'],
    failed: ['AlternativeAdded'],
    cancelled: ['AlternativeAdded'],
  },
  RecordAlternative: {
    ...gone,
    queued: ['AlternativeAdded'],
    running: ['AlternativeAdded'],
    cancelling: ['AlternativeAdded'],
    completed: ['AlternativeAdded'],
    failed: ['AlternativeAdded'],
    cancelled: ['AlternativeAdded'],
  },
  // There is none.
  RemoveAlternative: {
    ...gone,
    queued: [],
    running: [],
    cancelling: [],
    completed: [],
    failed: [],
    cancelled: [],
  },
  UndoTurn: {
    ...gone,
    queued: 'task_running',
    running: 'task_running',
    cancelling: 'task_running',
    completed: ['TurnsUndone'],
    failed: ['TurnsUndone'],
    cancelled: ['TurnsUndone'],
  },
  // Nothing was undone.
  RecordSnapshot: {
    ...gone,
    queued: [],
    running: [],
    cancelling: [],
    completed: [],
    failed: [],
    cancelled: [],
  },
  RecordRestore: {
    ...gone,
    queued: [],
    running: [],
    cancelling: [],
    completed: [],
    failed: [],
    cancelled: [],
  },
}

describe.each(Object.values(commands))('$type', (command) => {
  test.each(Object.entries(states))('%s', (name, events) => {
    const decision = task.decide(command, stateAfter(task, events))
    const expected = Object.entries(table[command.type]).find(([state]) => state === name)?.[1]
    expect(isRefusal(decision) ? decision.refused : decision.map((event) => event.type)).toEqual(expected)
  })
})
