// @vitest-environment jsdom
/** At any moment, a replay shows what a live page showed at that time after receiving the same messages. */
import { configureStore } from '@reduxjs/toolkit'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { HistoryItem } from '#domain/history/item.ts'
import { taskOf, tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { project } from '#domain/views/view.ts'
import { messageInPlaceOf } from '../../../../../tests/domain/chatMessages.ts'
import { histories } from '../../../../../tests/domain/histories.ts'
import { taskId } from '../../../../../tests/domain/ids.ts'
import { api } from '../../../api/api.ts'
import { tokenKey } from '../../../api/tokenStore.ts'
import type { Viewer } from '../../../live/viewer.ts'
import { rootReducer } from '../../../state/rootReducer.ts'
import { createWriting } from '../chat/streamingText.ts'
import { openTaskReducer, selectOpenTask, type OpenTask } from '../taskSlice.ts'
import { openTaskSync } from '../taskSync.ts'
import { createTerminalLog } from '../terminal/log/terminalLog.ts'
import { createReplayEngine, type Replayed } from './replayEngine.ts'

const id = taskId(1)
const base = {
  id,
  images: [],
  project: { id: 'p', name: 'Parcel', githubRepoName: 'parcel', githubOwner: 'northwind' },
}

/** Documents sorted by id, or fields by name, because their order does not matter for what is shown. */
const sorted = <Value>(documents: Readonly<Record<string, Value>>) =>
  Object.entries(documents).toSorted(([a], [b]) => (a < b ? -1 : 1))

/** Everything that a page shows, as text. */
const shownBy = (
  { task, deleted, chat, logs }: OpenTask,
  terminal: { readonly lines: unknown; readonly commands: unknown },
  writing: unknown,
) =>
  JSON.stringify({
    task: task && sorted<unknown>({ ...task }),
    deleted,
    // The images of messages are stored outside of the chat.
    chat: sorted(chat.documents).map(([key, message]) => [key, { ...message, images: [] }]),
    logs: sorted(logs.documents),
    ...terminal,
    writing,
  })

const shownIn = ({ state, writer }: Replayed) =>
  shownBy(state.openTask, { lines: writer.lines, commands: writer.blocks.all }, state.writing)

/** A page that opened the task when it was created, and received everything that happened later. */
async function livePage(items: readonly HistoryItem[]): Promise<readonly string[]> {
  let document: TaskDocument | undefined
  const answer = (body: unknown) => new Response(JSON.stringify(body))
  const [first] = items
  if (first?.kind === 'event') document = project(tasksView, undefined, first.event, id)
  const made = document && { ...taskOf(document, undefined, () => ''), project: base.project }
  vi.stubGlobal('fetch', async (url: string) => {
    const { pathname } = new URL(url, 'http://localhost')
    if (pathname.endsWith('/chat')) return answer({ version: 0, messages: [] })
    if (pathname.endsWith('/commands')) return answer({ version: 0, logs: [] })
    if (pathname.endsWith('/questions')) return answer({ version: 0, questions: [] })
    if (pathname.endsWith('/terminal')) return answer({ version: -1, output: [], deltas: [] })
    return answer({ task: made, data: { changedFiles: [] } })
  })
  const store = configureStore({
    reducer: rootReducer.inject({ reducerPath: 'openTask', reducer: openTaskReducer }),
    middleware: (defaults) =>
      defaults({ immutableCheck: false, serializableCheck: false }).concat(api.middleware),
  })
  const viewers: Viewer[] = []
  const terminal = createTerminalLog()
  const writing = createWriting()
  const opened = openTaskSync(id, {
    dispatch: store.dispatch,
    live: {
      begin: () => undefined,
      enter: (entering) => {
        viewers.push(entering)
        return () => undefined
      },
    },
    terminal,
    writing,
    needsRefresh: () => false,
    isCommand: () => false,
  })
  const [viewer] = viewers
  viewer?.connected(async () => ({ joined: true, resync: false, position: '1' }))
  await vi.advanceTimersByTimeAsync(300)
  const log = items.flatMap((item) => (item.kind === 'event' ? [item.event] : []))
  const shown: string[] = []
  for (const [index, item] of items.entries()) {
    if (index > 0 && item.kind === 'event') {
      const before = document
      document = project(tasksView, document, item.event, id)
      const message = messageInPlaceOf(log, item.event)
      if (message) viewer?.chatMessage(message)
      else viewer?.taskEvent(item.event)
      // The gateway sends the status in the same way: when status or progress has changed.
      if (document && (before?.status !== document.status || before.progress !== document.progress)) {
        const { status, progress } = document
        const { position, revision: version, meta } = item.event
        viewer?.statusChanged({ taskId: id, status, progress, position, version, commandId: meta.commandId })
      }
    }
    if (item.kind === 'output') viewer?.terminalOutput(item.output)
    if (item.kind === 'delta') viewer?.messageDelta(item.delta)
    // Waits for the frame in which the item is shown.
    await vi.advanceTimersByTimeAsync(250)
    const { lines, commands } = terminal.read()
    shown.push(shownBy(selectOpenTask(store.getState()), { lines, commands }, writing.read()))
  }
  opened.close()
  return shown
}

beforeEach(() => {
  vi.useFakeTimers()
  localStorage.setItem(tokenKey, 'token')
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  localStorage.clear()
})

/** A history in pages of any size. */
const paged = fc.record({ items: histories, pages: fc.array(fc.integer({ min: 1, max: 60 })) })

function loaded(items: readonly HistoryItem[], pages: readonly number[], every?: number) {
  const engine = createReplayEngine(base, every)
  let from = 0
  for (const page of [...pages, items.length]) {
    engine.add(items.slice(from, from + page))
    from += page
  }
  return engine
}

describe('a replay', () => {
  test('shows at every moment what a live page showed then', () =>
    fc.assert(
      fc.asyncProperty(histories, async (items) => {
        const live = await livePage(items)
        const engine = loaded(items, [], 10)
        const replayed = items.map((_, index) => shownIn(engine.seek(index)))
        for (const [index, shown] of live.entries())
          expect(JSON.parse(replayed[index] ?? 'null')).toEqual(JSON.parse(shown))
      }),
      { numRuns: 50 },
    ))

  test('shows the same however one comes to a moment, and however the history came', () =>
    fc.assert(
      fc.property(
        paged,
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.integer({ min: 1, max: 30 }),
        ({ items, pages }, moves, every) => {
          const whole = loaded(items, [], 1_000)
          const engine = loaded(items, pages, every)
          let at: Replayed | undefined
          for (const move of moves) {
            const index = move % items.length
            at = engine.seek(index, at)
            expect(at.index).toBe(index)
            expect(shownIn(at)).toBe(shownIn(whole.seek(index)))
          }
        },
      ),
      { numRuns: 60 },
    ))

  test('shows the same when the terminal comes after the events that it follows', () =>
    fc.assert(
      fc.property(histories, fc.integer({ min: 1, max: 12 }), (items, every) => {
        const whole = loaded(items, [], every)
        const late = createReplayEngine(base, every)
        late.add(items.filter(({ kind }) => kind === 'event'))
        late.add(items.filter(({ kind }) => kind !== 'event'))
        expect(late.items()).toEqual(whole.items())
        for (const index of items.keys()) expect(shownIn(late.seek(index))).toBe(shownIn(whole.seek(index)))
      }),
      { numRuns: 20 },
    ))

  test('finds the events of the task by their revision', () =>
    fc.assert(
      fc.property(paged, ({ items, pages }) => {
        const engine = loaded(items, pages)
        const found = items.map((item, index) =>
          item.kind === 'event' ? engine.indexOfRevision(item.event.revision) : index,
        )
        expect(found).toEqual([...items.keys()])
        expect(engine.indexOfRevision(1_000_000)).toBe(-1)
      }),
      { numRuns: 20 },
    ))

  test('of nothing is nothing', () => {
    const engine = createReplayEngine(base)
    expect(engine.seek(5)).toMatchObject({ index: -1, state: { openTask: { task: null } } })
  })
})
