/** Snapshots, undos and forks: the state that a task returns to, and what no longer counts. */
import { describe, expect, test } from 'vitest'
import { given, stateAfter } from '../../tests/domain/given.ts'
import { creating } from '../../tests/domain/creating.ts'
import { executionId, messageId, taskId } from '../../tests/domain/ids.ts'
import * as past from '../../tests/domain/taskHistories.ts'
import { ArtifactKept } from './artifactEvents.ts'
import type { TaskEvent } from './events.ts'
import { countingAt } from './restorePoints.ts'
import { TaskForked, TurnsUndone, WorkspaceRestored } from './snapshotEvents.ts'
import { task } from './task.ts'

/** The events of turn `n` from its message to its end, with its snapshot unless there is none. */
const turn = (n: number, { hasSnapshot = true } = {}): readonly TaskEvent[] => [
  ...(n === 1 ? [] : [past.waits(n), past.requested(n)]),
  past.started(n),
  past.delivered(n),
  ...(n === 1 ? [past.prepared] : []),
  past.agentStarted(n),
  ...(hasSnapshot ? [past.snapshotTaken(n)] : []),
  past.succeeded(n),
]
const threeTurns = [...past.queued, ...turn(1), ...turn(2), ...turn(3)]
const undoId = executionId(90)
const undo = (n: number, id = undoId) =>
  ({ type: 'UndoTurn', undoId: id, executionId: executionId(n) }) as const
const undone = (n: number, undone: readonly number[], redone: readonly number[] = [], id = undoId) =>
  TurnsUndone.of({
    undoId: id,
    executionId: executionId(n),
    undone: undone.map(executionId),
    redone: redone.map(executionId),
  })
const live = (...events: readonly (TaskEvent | readonly TaskEvent[])[]) => {
  const state = stateAfter(task, ...events)
  if (state.kind !== 'task') throw new Error(state.kind)
  return state
}

describe('undoing a turn', () => {
  test('undoes it and all that came after it', () => {
    given(task, threeTurns)
      .when(undo(2))
      .then([undone(2, [2, 3])])
    given(task, threeTurns)
      .when(undo(3))
      .then([undone(3, [3])])
    given(task, threeTurns)
      .when(undo(1))
      .then([undone(1, [1, 2, 3])])
  })

  test('goes back to the files and the session from before it', () => {
    const state = live(threeTurns, undone(2, [2, 3]))
    expect(state.saved).toMatchObject({ work: '1'.padStart(40, 'b'), session: { sessionId: 'session-1' } })
    expect(state.session).toEqual({ agent: 'claude', sessionId: 'session-1' })
    expect(state.pendingRestore).toEqual({ executionId: undoId, reason: 'undo' })
    const beginning = live(threeTurns, undone(1, [1, 2, 3]))
    expect(beginning).toMatchObject({ saved: null, session: null })
  })

  test('can be undone, also when the task has gone on', () => {
    given(task, threeTurns, undone(2, [2, 3]))
      .when(undo(90, executionId(91)))
      .then([undone(90, [], [2, 3], executionId(91))])
    given(task, threeTurns, undone(2, [2, 3]), turn(4))
      .when(undo(90, executionId(91)))
      .then([undone(90, [4], [2, 3], executionId(91))])
    const state = live(threeTurns, undone(2, [2, 3]), turn(4), undone(90, [4], [2, 3], executionId(91)))
    const { points, at } = state.restorePoints
    expect(countingAt(points, at).map((point) => point.executionId)).toEqual([3, 2, 1].map(executionId))
    expect(state.saved?.work).toBe('3'.padStart(40, 'b'))
  })

  test('keeps what it goes back to when the snapshot of the undone turn is taken late', () => {
    const late = [...past.queued, ...turn(1), ...turn(2, { hasSnapshot: false }), undone(2, [2])]
    const savedWork = (...events: readonly TaskEvent[]) =>
      live(late, past.snapshotTaken(2), events).saved?.work
    expect(savedWork()).toBe('1'.padStart(40, 'b'))
    expect(savedWork(undone(90, [], [2], executionId(91)))).toBe('2'.padStart(40, 'b'))
    const atBeginning = [...past.queued, ...turn(1, { hasSnapshot: false }), undone(1, [1])]
    expect(live(atBeginning, past.snapshotTaken(1)).saved).toBeNull()
  })

  test('forgets which artifacts there were, so that equal ones of a new turn are kept too, and counts them still', () => {
    const blob = { hash: 'a'.repeat(64), size: 10 }
    const data = { executionId: executionId(3), artifactId: taskId(9), mediaType: 'image/png', blob } as const
    const left = ArtifactKept.of(data, { name: 'shot.png', digest: 'd' })
    expect(live(threeTurns.slice(0, -1), left, threeTurns.slice(-1)).artifacts.digests.size).toBe(1)
    const { artifacts } = live(threeTurns.slice(0, -1), left, threeTurns.slice(-1), undone(3, [3]))
    expect(artifacts).toEqual({ count: 1, bytes: 10, digests: new Map() })
  })

  test('is refused while something runs, where it changes nothing, and of what is unknown', () => {
    given(task, threeTurns, past.waits(4), past.requested(4)).when(undo(2)).thenRefused('task_running')
    given(task, threeTurns, undone(2, [2, 3]))
      .when(undo(2, executionId(91)))
      .thenRefused('already_undone')
    given(task, threeTurns).when(undo(7)).thenRefused('not_found')
  })

  test('is refused where the files from before it were not saved', () => {
    const lost = [...past.queued, ...turn(1), ...turn(2, { hasSnapshot: false }), ...turn(3)]
    given(task, lost).when(undo(3)).thenRefused('no_snapshot')
    given(task, lost)
      .when(undo(2))
      .then([undone(2, [2, 3])])
  })

  test('is over once the files are restored', () => {
    const record = {
      type: 'RecordRestore',
      executionId: undoId,
      keptPaths: ['b.txt'],
      changes: null,
    } as const
    const restored = WorkspaceRestored.of({ executionId: undoId, kept: 1 }, { keptPaths: ['b.txt'] })
    given(task, threeTurns, undone(2, [2, 3]))
      .when(record)
      .then([restored])
    given(task, threeTurns, undone(2, [2, 3]), restored)
      .when(record)
      .thenNothing()
    given(task, threeTurns, undone(2, [2, 3]))
      .when({ ...record, executionId: executionId(91) })
      .thenNothing()
    expect(live(threeTurns, undone(2, [2, 3]), restored).pendingRestore).toBeNull()
  })

  test('lets no pull request be made of files that are not restored yet', () => {
    const ask = {
      type: 'RequestPullRequest',
      requestId: 'request-1',
      title: null,
      body: null,
      draft: false,
      autoUpdate: null,
    } as const
    given(task, threeTurns, past.changed(3), undone(2, [2, 3]))
      .when(ask)
      .thenRefused('changes_moved')
  })
})

describe('a task from a turn of another', () => {
  const snapshot = {
    work: 'c'.repeat(40),
    bundle: { hash: 'd'.repeat(64), size: 1 },
    session: { agent: 'claude', sessionId: 'session-1', blob: { hash: 'e'.repeat(64), size: 2 } },
  } as const
  const from = {
    taskId: taskId(9),
    executionId: executionId(1),
    title: 'The other',
    transcript: 'Person: hello',
    snapshot,
  }
  const create = { ...creating(), title: past.title, description: past.description, from }

  test('says where it comes from, and begins with its files and its session', () => {
    const decision = task.decide(create, { kind: 'none' })
    if ('refused' in decision) throw new Error(decision.refused)
    expect(decision.map(({ type }) => type)).toEqual([
      'TaskCreated',
      'MessageQueued',
      'TaskCreatedFromTurn',
      'ExecutionRequested',
    ])
    expect(live(decision)).toMatchObject({
      saved: snapshot,
      session: { agent: 'claude', sessionId: 'session-1' },
      origin: { taskId: taskId(9), transcript: 'Person: hello' },
      pendingRestore: { executionId: executionId(1), reason: 'fork' },
    })
  })

  test('may wait for its first message', () => {
    const decision = task.decide({ ...create, description: '' }, { kind: 'none' })
    if ('refused' in decision) throw new Error(decision.refused)
    expect(decision.map(({ type }) => type)).toEqual(['TaskCreated', 'TaskCreatedFromTurn'])
    given(task, decision)
      .when({
        type: 'SendMessage',
        messageId: messageId(1),
        kind: 'turn',
        agent: null,
        message: 'Go on.',
        images: [],
        executionId: executionId(2),
      })
      .then([past.waits(1, 'turn', 'claude', 'Go on.'), past.requested(2, 'follow_up', { message: 1 })])
  })

  test('is noted in the other one, if that has a snapshot of the turn', () => {
    const record = {
      type: 'RecordFork',
      taskId: taskId(2),
      executionId: executionId(2),
      title: 'New',
    } as const
    given(task, threeTurns)
      .when(record)
      .then([TaskForked.of({ taskId: taskId(2), executionId: executionId(2) }, { title: 'New' })])
    given(task, threeTurns)
      .when({ ...record, executionId: executionId(7) })
      .thenRefused('not_found')
    given(
      task,
      threeTurns,
      TaskForked.of({ taskId: taskId(2), executionId: executionId(2) }, { title: 'New' }),
    )
      .when(record)
      .thenNothing()
  })

  test('is refused for a turn that still runs, in words of its own', () => {
    given(task, threeTurns, past.waits(4), past.requested(4), past.started(4))
      .when({ type: 'RecordFork', taskId: taskId(2), executionId: executionId(4), title: 'New' })
      .thenRefused('no_snapshot', 'This turn is still running. Its files are saved when it ends.')
  })
})
