// @vitest-environment jsdom
/** A history is read page by page, followed while the task runs, and played; when a read fails, the loaded part stays. */
import { configureStore } from '@reduxjs/toolkit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { HistoryItem, TerminalItem } from '#domain/history/item.ts'
import { momentOf } from '#domain/history/moments.ts'
import { squeezedMs } from '#domain/history/timeAxis.ts'
import { executionId, taskId } from '../../../../../tests/domain/ids.ts'
import { recorded } from '../../../../../tests/domain/recorded.ts'
import { completed, requested, waits } from '../../../../../tests/domain/taskHistories.ts'
import { api } from '../../../api/api.ts'
import { rootReducer } from '../../../state/rootReducer.ts'
import { openTaskReducer, selectOpenTask } from '../taskSlice.ts'
import { openHistory } from './historySession.ts'
import type { HistoryPage } from './readHistory.ts'

const id = taskId(1)
const start = Date.UTC(2026, 0, 1)
const at = (seconds: number) => new Date(start + 1_000 * seconds).toISOString()

const events: readonly HistoryItem[] = completed.map((event, revision) => ({
  kind: 'event',
  // The events are a second apart; only the last comes after a minute.
  event: recorded(event, {
    revision,
    stream: `task-${id}`,
    position: String(10 * revision),
    at: at(revision === completed.length - 1 ? 60 + revision : revision),
  }),
}))

/** Text that was written in the second before it was recorded. */
const written = (version: number, follows: number, text: string): TerminalItem => ({
  kind: 'delta',
  follows,
  at: at(follows + 0.9),
  begunAt: at(follows + 0.2),
  chunks: [...text].map((_, index) => [1, 100 * index]),
  delta: {
    taskId: id,
    messageId: 'm',
    executionId: executionId(1),
    offset: 0,
    text,
    position: String(10 * follows + 1 + version),
    version,
  },
})

const page = (items: readonly HistoryItem[], more = false, total = items.length): HistoryPage => ({
  items,
  next: `${items.length}.0`,
  more,
  total,
  missing: [],
})

let run: ((now: number) => void) | null = null
function opened(...pages: readonly (HistoryPage | { readonly reason: string })[]) {
  const live = configureStore({
    reducer: rootReducer.inject({ reducerPath: 'openTask', reducer: openTaskReducer }),
    middleware: (defaults) => defaults().concat(api.middleware),
  })
  const left = [...pages]
  const asked: (string | undefined)[] = []
  let printed: () => void = () => undefined
  const session = openHistory({
    live,
    whenPrinted(listener) {
      printed = listener
      return () => undefined
    },
    source: {
      async page(after) {
        asked.push(after)
        return left.shift() ?? page([])
      },
      changes: async () => ({ reason: 'none' }),
      images: async () => [],
      bytes: async () => null,
    },
    base: { id, images: [], project: { id: 'p', name: 'Parcel', githubRepoName: '', githubOwner: '' } },
    names: { person: 'Ada', repository: '' },
    frame(next) {
      run = next
      return () => (run = null)
    },
  })
  return { session, asked, prints: () => printed() }
}

const settle = () => vi.advanceTimersByTimeAsync(1_000)
const replayed = ({ session }: ReturnType<typeof opened>) => {
  const view = session.replayed()
  return view === null ? null : selectOpenTask(view.store.getState()).task
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  run = null
})

describe('a history', () => {
  test('is read to its end, and says how far it is', async () => {
    const history = opened(page(events.slice(0, 2), true, 6), page(events.slice(2)))
    await settle()
    expect(history.asked).toEqual([undefined, '2.0'])
    expect(history.session.read()).toMatchObject({ load: 'loaded', count: 6, total: 6 })
    expect(history.session.read().sections).toMatchObject([{ number: 1, outcome: 'completed' }])
  })

  test('keeps what is there when it cannot be read on, and goes on from there', async () => {
    const history = opened(
      page(events.slice(0, 3), true),
      { reason: 'No connection.' },
      page(events.slice(3)),
    )
    await settle()
    expect(history.session.read()).toMatchObject({ load: 'failed', reason: 'No connection.', count: 3 })
    history.session.retry()
    await settle()
    expect(history.session.read()).toMatchObject({ load: 'loaded', reason: '', count: 6 })
    expect(history.asked).toEqual([undefined, '3.0', '3.0'])
  })

  test('goes on when the live task prints, once for all that comes at once', async () => {
    const history = opened(page(events.slice(0, 4)), page(events.slice(4)))
    await settle()
    history.prints()
    history.prints()
    await settle()
    expect(history.session.read().count).toBe(6)
    expect(history.asked).toHaveLength(2)
  })

  test('counts what was erased', async () => {
    const output = { ...written(0, 4, ''), erased: true } as const
    const history = opened(page([...events.slice(0, 5), output, ...events.slice(5)]))
    await settle()
    expect(history.session.read().erased).toBe(1)
  })
})

describe('a replay', () => {
  test('recorder point 15: opens between two events, and names that moment', async () => {
    const { session } = opened(page(events))
    await settle()
    const before = completed.length - 2
    session.open(`${before}+12s`)
    expect(session.read().replay).toMatchObject({
      moment: `${before}+12s`,
      index: before,
      time: start + 1_000 * (before + 12),
    })
    session.open(`${before}+999s`)
    expect(session.read().replay).toMatchObject({ index: before, moment: `${before}+60s` })
  })

  test('recorder L1: is in the turn whose first event is shown', async () => {
    const more = [waits(2), requested(2)].map((event, index): HistoryItem => {
      const revision = completed.length + index
      return {
        kind: 'event',
        event: recorded(event, {
          revision,
          stream: `task-${id}`,
          position: String(10 * revision),
          at: at(100 + revision),
        }),
      }
    })
    const { session } = opened(page([...events, ...more]))
    await settle()
    const turns = [0, completed.length - 1, completed.length].map((index) => {
      session.seek(index)
      return session.read().replay?.turn
    })
    expect(turns).toEqual([1, 1, 2])
  })

  test('opens at the moment of a link as soon as it is read', async () => {
    const history = opened(page(events.slice(0, 2), true), page(events.slice(2)))
    history.session.open('3')
    await settle()
    expect(history.session.read().replay).toMatchObject({ index: 3, moment: '3', turn: 1, playing: false })
    expect(replayed(history)?.status).toBe('running')
  })

  test.each(['99', 't1', 'words'])('says that there is no moment %s', async (moment) => {
    const history = opened(page(events))
    history.session.open(moment)
    await settle()
    expect(history.session.read()).toMatchObject({ replay: null, isUnknownMoment: true })
  })

  test('stays where it is when something comes in before what is shown', async () => {
    const history = opened(page(events), page([written(0, 1, 'late')]))
    await settle()
    history.session.seek(3)
    history.prints()
    await settle()
    expect(history.session.items().map(momentOf).slice(0, 5)).toEqual(['0', '1', 't0', '2', '3'])
    expect(history.session.read().replay).toMatchObject({ index: 4, moment: '3' })
  })

  test('plays in real time and at its speed, squeezes what is idle, and stops at the end', async () => {
    const history = opened(page(events))
    await settle()
    const { session } = history
    session.play()
    run?.(0)
    run?.(1_500)
    expect(session.read().replay).toMatchObject({ index: 1, playing: true, time: start + 1_500 })
    session.setSpeed(4)
    run?.(2_000)
    expect(session.read().replay).toMatchObject({ index: 3, speed: 4 })
    // The axis has five seconds, to which a pause of a minute contributes two.
    expect(session.read().axis.length).toBe(4_000 + squeezedMs)
    run?.(60_000)
    expect(session.read().replay).toMatchObject({ index: 5, playing: false })
    expect(replayed(history)?.status).toBe('completed')
    session.backToLive()
    expect(session.read().replay).toBeNull()
  })

  test('shows words as they were written, before they were recorded', async () => {
    const history = opened(page([...events.slice(0, 5), written(0, 4, 'hello'), ...events.slice(5)]))
    await settle()
    const { session } = history
    const shown = () =>
      session
        .replayed()
        ?.open.writing.read()
        .map(({ text }) => text)
    session.seekTo(4_000)
    expect(shown()).toEqual([])
    session.seekTo(4_450)
    expect(shown()).toEqual(['hel'])
    session.seekTo(4_900)
    expect(shown()).toEqual(['hello'])
    session.seekTo(4_450)
    expect(shown()).toEqual(['hel'])
  })
})
