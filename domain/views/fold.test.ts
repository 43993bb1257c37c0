/** Every view over every log: folding can be interrupted, continued and repeated, and agrees with the deciders. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { logs } from '../../tests/domain/logs.ts'
import { erased } from '../../tests/domain/recorded.ts'
import { liveTask, lives, logOf } from '../../tests/domain/taskLives.ts'
import { taskStream } from '../kernel/streams.ts'
import { task } from '../task/task.ts'
import { views } from './registry.ts'
import { byPlaceInQueue, chatView } from './chat.ts'
import { logView } from './commandLog.ts'
import { tasksView } from './tasks.ts'
import type { AnyRecorded, ViewDocument } from './view.ts'
import { randomRuns } from '../../tests/longRun.ts'
import { fold, foldView } from '../../tests/domain/fold.ts'

type Log = readonly AnyRecorded[]
const nothing: ReadonlyMap<string, ViewDocument> = new Map()
const sorted = (documents: ReadonlyMap<string, ViewDocument>) =>
  [...documents].toSorted(([a], [b]) => (a < b ? -1 : 1))

const over = (check: (log: Log, cut: number) => void): void =>
  fc.assert(
    fc.property(logs, fc.nat(), (log, at) => {
      check(log, at % (log.length + 1))
    }),
    { numRuns: randomRuns(60) },
  )

describe.each(views)('the view of $collection', (view) => {
  const folded = (log: Log, from = nothing) => foldView(view, from, log)
  // Without its number nothing can be asked of a pull request: its document goes with the words that it began with.
  const isOfWords = view.collection === 'pullRequests'

  test('is folded from the streams and events that it says it is', () =>
    over((log) => {
      const { streams, types } = view
      const wanted = log.filter(
        ({ stream, type }) =>
          streams.some((kind) => stream.startsWith(`${kind}-`)) &&
          (types === undefined || types.includes(type)),
      )
      expect(folded(wanted)).toEqual(folded(log))
    }))

  test('may be folded in parts', () =>
    over((log, cut) => expect(folded(log.slice(cut), folded(log.slice(0, cut)))).toEqual(folded(log))))

  test('is the same when a part is read again', () =>
    over((log, cut) => {
      const half = Math.floor(cut / 2)
      expect(folded(log.slice(half), folded(log.slice(0, cut)))).toEqual(folded(log))
    }))

  test('is the same when each event comes twice', () =>
    over((log) => expect(folded(log.flatMap((event) => [event, event]))).toEqual(folded(log))))

  test('is the same however streams are interleaved', () =>
    over((log) => {
      const streams = [...new Set(log.map((event) => event.stream))]
      const oneByOne = streams.flatMap((stream) => log.filter((event) => event.stream === stream))
      expect(sorted(folded(oneByOne))).toEqual(sorted(folded(log)))
    }))

  test('changes no document in place', () =>
    over((log, cut) => {
      const before = folded(log.slice(0, cut))
      const kept = structuredClone(before)
      folded(log.slice(cut), before)
      expect(before).toEqual(kept)
    }))

  test('keeps documents under their ids, as plain JSON', () =>
    over((log) => {
      for (const [id, document] of folded(log)) {
        expect(document.id).toBe(id)
        expect(JSON.parse(JSON.stringify(document))).toStrictEqual(document)
      }
    }))

  test('has the fields it is indexed by', () =>
    over((log) => {
      const fields = view.indexes.flat()
      for (const document of folded(log).values())
        expect(Object.keys(document)).toEqual(expect.arrayContaining(fields))
    }))

  test('accepts erased content, and holds none of it', () =>
    over((log) => {
      const after = folded(log.map(erased))
      const whole = folded(log)
      expect([...after.keys()]).toEqual([...whole.keys()].filter((id) => after.has(id) || !isOfWords))
      expect(JSON.stringify([...after.values()])).not.toContain('words')
    }))
})

describe('the documents of a task', () => {
  const overLives = (check: (log: ReturnType<typeof logOf>) => void): void =>
    fc.assert(
      fc.property(lives(), (life) => {
        check(logOf(life))
      }),
      { numRuns: randomRuns(60) },
    )
  const upTo = (log: ReturnType<typeof logOf>) => log.map((_, index) => log.slice(0, index + 1))

  test('have the status of its state, at every event', () =>
    overLives((log) =>
      expect(upTo(log).map((past) => [...foldView(tasksView, new Map(), past).values()][0]?.status)).toEqual(
        upTo(log).map((past) => liveTask(fold(task, past))?.phase.status),
      ),
    ))

  test('know of the workspace, the changes and the pull request what its state knows', () =>
    overLives((log) => {
      const state = liveTask(fold(task, log))
      const [document] = foldView(tasksView, new Map(), log).values()
      expect(
        document && [document.workspace, document.changes?.files ?? 0, document.prNumber, document.agent],
      ).toEqual(
        state && [state.workspace, state.changedFiles, state.pullRequest?.number ?? null, state.agent],
      )
    }))

  test('show a message as queued when it waits for its turn, and not else, in the order of the queue', () =>
    overLives((log) => {
      const state = liveTask(fold(task, log))
      // What is on its way to a runner goes first, whatever the others were put in.
      const onItsWay = state && 'execution' in state.phase ? state.phase.execution.messageId : ''
      const queued = [...foldView(chatView, new Map(), log).values()].filter(
        ({ status }) => status === 'queued',
      )
      const waiting = queued.filter(({ messageId }) => messageId !== onItsWay).toSorted(byPlaceInQueue)
      expect(state === undefined || waiting.map((shown) => shown.messageId)).toEqual(
        state === undefined ||
          state.queue.map(({ messageId }) => messageId).filter((messageId) => messageId !== onItsWay),
      )
      const isQueued = state?.queue.some(({ messageId }) => messageId === onItsWay) === true
      expect(state === undefined || queued.length).toBe(
        state === undefined || waiting.length + (isQueued ? 1 : 0),
      )
    }))

  test('show a message as running only when its execution runs', () =>
    overLives((log) => {
      const state = liveTask(fold(task, log))
      const running = [...foldView(chatView, new Map(), log).values()].filter(
        ({ status }) => status === 'running',
      )
      expect(state === undefined || running.map((shown) => shown.messageId)).toEqual(
        state === undefined || (state.phase.status === 'running' ? [state.phase.execution.messageId] : []),
      )
    }))

  test('show a tool as running only when it is open', () =>
    overLives((log) => {
      const state = liveTask(fold(task, log))
      const running = [...foldView(logView, new Map(), log).values()].filter(
        ({ status, messageId }) => status === 'running' && messageId === null,
      )
      const open = state && state.phase.status === 'running' ? [...state.openTools] : []
      const executionId = state && 'execution' in state.phase ? state.phase.execution.executionId : ''
      expect(state === undefined || running.map(({ id }) => id).toSorted()).toEqual(
        state === undefined || open.map((toolId) => `${executionId}:${toolId}`).toSorted(),
      )
    }))

  test('belong to its stream', () =>
    over((log) => {
      for (const { task: id, version } of foldView(chatView, new Map(), log).values()) {
        expect(log.some((event) => event.stream === taskStream(id) && event.revision === version)).toBe(true)
      }
    }))
})
