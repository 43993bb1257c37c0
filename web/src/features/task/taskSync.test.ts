// @vitest-environment jsdom
import { configureStore } from '@reduxjs/toolkit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { MessageDelta } from '#domain/api/chat.schema.ts'
import type { JoinAnswer, TaskEventMessage } from '#domain/api/socket.schema.ts'
import type { TaskEvent } from '#domain/task/events.ts'
import { ThinkingRecorded } from '#domain/task/thinkingEvents.ts'
import { chatMessageOf, chatView, messageDocumentId, type MessageDocument } from '#domain/views/chat.ts'
import { logEntryOf, logView, type LogDocument } from '#domain/views/commandLog.ts'
import { taskOf, tasksView } from '#domain/views/tasks.ts'
import { messageInPlaceOf } from '../../../../tests/domain/chatMessages.ts'
import { executionId, messageId, taskId } from '../../../../tests/domain/ids.ts'
import { recorded } from '../../../../tests/domain/recorded.ts'
import {
  broke,
  changed,
  commandRunning,
  completed,
  running,
  stopped,
  succeeded,
  toolStarted,
  waits,
} from '../../../../tests/domain/taskHistories.ts'
import { api } from '../../api/api.ts'
import { tokenKey } from '../../api/tokenStore.ts'
import { selectConnection } from '../../live/connection.ts'
import { rootReducer } from '../../state/rootReducer.ts'
import type { Join, LiveWords, Viewer } from '../../live/viewer.ts'
import { selectNotifications } from '../notifications/notifications.ts'
import { feedbackApi } from './feedback/feedbackApi.ts'
import { createWriting } from './chat/streamingText.ts'
import { taskApi } from './taskApi.ts'
import { openTaskReducer, selectOpenTask } from './taskSlice.ts'
import { openTaskSync } from './taskSync.ts'
import { createTerminalLog } from './terminal/log/terminalLog.ts'
import { foldView } from '../../../../tests/domain/fold.ts'

const addressOf = ({ imageId }: { imageId: string }) => `/api/images/${imageId}`

const id = taskId(1)
/** Positions are ten times the revision, so they have gaps. */
const recordedLog = (events: readonly TaskEvent[]): readonly TaskEventMessage[] =>
  events.map((event, revision) =>
    recorded(event, { revision, stream: `task-${id}`, position: String(10 * (revision + 1)) }),
  )

const output = (version: number, content: string) => ({
  taskId: id,
  timestamp: '2026-01-01T00:00:00.000Z',
  content,
  type: 'stdout' as const,
  executionId: 'e',
  position: String(1_000 + version),
  version,
})

/** A server with this much of the log, and a list of all requests that it received. */
function server(log: () => readonly TaskEventMessage[], terminal: () => readonly string[] = () => []) {
  const asked: string[] = []
  const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status })
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url)
    const document = foldView(tasksView, new Map(), log()).get(id)
    if (document === undefined) return json(404, { error: 'There is no such task.', code: 'not_found' })
    const { version } = document
    const path = new URL(url, 'http://localhost').pathname
    if (path.endsWith('/chat')) {
      const messages = [...foldView<MessageDocument>(chatView, new Map(), log()).values()]
      return json(200, {
        version,
        messages: messages.map((message) =>
          chatMessageOf(message, { owner: 'u', projectId: 'p' }, addressOf),
        ),
      })
    }
    if (path.endsWith('/commands')) {
      const logs = [...foldView<LogDocument>(logView, new Map(), log()).values()]
      return json(200, { version, logs: logs.map((entry) => logEntryOf(entry, addressOf)) })
    }
    if (path.endsWith('/questions')) return json(200, { version, questions: [] })
    if (path.endsWith('/terminal')) {
      const lines = terminal().map((text, index) => output(index, text))
      return json(200, { version: lines.length - 1, output: lines, deltas: [] })
    }
    return json(200, { task: taskOf(document, undefined, addressOf), data: { changedFiles: [] } })
  })
  return asked
}

/** The server refuses the requests for which `refuses` holds, and answers the others as before. */
function refusing(status: number, refuses: (url: string) => boolean): void {
  const answers = fetch
  vi.stubGlobal('fetch', (url: string) =>
    refuses(url) ? Promise.resolve(new Response('{}', { status })) : answers(url),
  )
}

/** A task in a room whose connection the test controls. */
function room(needsRefresh = () => false) {
  const store = configureStore({
    reducer: rootReducer.inject({ reducerPath: 'openTask', reducer: openTaskReducer }),
    middleware: (defaults) => defaults().concat(api.middleware),
  })
  let viewer: Viewer | null = null
  const terminal = createTerminalLog()
  const writing = createWriting()
  const joins: (string | null)[] = []
  const opened = openTaskSync(id, {
    dispatch: store.dispatch,
    live: {
      begin: () => undefined,
      enter: (entering) => {
        viewer = entering
        return () => (viewer = null)
      },
    },
    terminal,
    writing,
    needsRefresh,
    isCommand: (messageId) =>
      selectOpenTask(store.getState()).chat.documents[messageDocumentId(id, messageId)]?.isCommand === true,
  })
  return {
    opened,
    joins,
    /** The connection is established, and a join gets this answer. */
    connects: (answer: JoinAnswer) => {
      const join: Join = async (last) => {
        joins.push(last)
        return answer
      }
      viewer?.connected(join)
    },
    tells: (log: readonly TaskEventMessage[], ...events: readonly TaskEventMessage[]) => {
      for (const event of events) {
        const message = messageInPlaceOf(log, event)
        if (message) viewer?.chatMessage(message)
        else viewer?.taskEvent(event)
      }
    },
    prints: (...items: readonly ReturnType<typeof output>[]) =>
      items.forEach((item) => viewer?.terminalOutput(item)),
    says: (...words: readonly LiveWords[]) => words.forEach((said) => viewer?.words(said)),
    records: (delta: MessageDelta) => viewer?.messageDelta(delta),
    written: () => writing.read().map(({ text }) => text),
    behind: () => selectConnection(store.getState()).behind,
    state: () => selectOpenTask(store.getState()),
    messages: () =>
      Object.values(selectOpenTask(store.getState()).chat.documents).map(({ message }) => message),
    tools: () => Object.values(selectOpenTask(store.getState()).logs.documents).map(({ target }) => target),
    lines: () => terminal.read().lines.map(({ text }) => text),
    toasts: () =>
      selectNotifications(store.getState()).map(({ type, title, message }) => [type, title, message]),
    hasViewer: () => viewer !== null,
    readsChanges: () => void store.dispatch(taskApi.endpoints.diff.initiate(id)),
    readsFeedback: () => void store.dispatch(feedbackApi.endpoints.feedback.initiate(id)),
  }
}

const joinedAt = (position: string | null): JoinAnswer => ({ joined: true, resync: false, position })
const settle = () => vi.advanceTimersByTimeAsync(300)

beforeEach(() => {
  vi.useFakeTimers()
  localStorage.setItem(tokenKey, 'token')
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  localStorage.clear()
})

describe('an open task', () => {
  test('joins, reads what was up to there, and shows what came meanwhile once', async () => {
    const log = recordedLog([...running, waits(2), waits(3)])
    const before = log.slice(0, running.length)
    const asked = server(
      () => before,
      () => ['one\n'],
    )
    const task = room()
    task.connects(joinedAt('50'))
    // Live messages that arrive before the history is read: one that the history covers, and two that it does not.
    task.tells(log, ...log.slice(running.length - 1))
    task.prints(output(0, 'one\n'), output(1, 'two\n'))
    await settle()
    expect(task.joins).toEqual([null])
    expect(asked.every((url) => url.includes('minPosition=50'))).toBe(true)
    expect(task.messages()).toEqual([
      'Add a greeting\nSay hello to whoever starts the program.',
      'message 2',
      'message 3',
    ])
    expect(task.lines()).toEqual(['one', 'two'])
    expect(task.state().task?.version).toBe(log.length - 1)
  })

  test('reads the feedback again when an event may have changed it, and waits until the server shows that event', async () => {
    const log = recordedLog(completed)
    const before = log.slice(0, -1)
    const asked = server(() => before)
    const task = room()
    task.readsFeedback()
    task.connects(joinedAt('10'))
    await settle()
    const feedback = () => asked.filter((url) => url.includes('/feedback'))
    expect(feedback()).toEqual([`/api/tasks/${id}/feedback`])
    task.tells(log, ...log.slice(-1))
    await settle()
    expect(feedback().slice(1)).toEqual([`/api/tasks/${id}/feedback?minPosition=${log.at(-1)?.position}`])
  })

  test('reads the changes again after they changed, and waits until the server shows that', async () => {
    const log = recordedLog([...running, changed(1)])
    const asked = server(() => log.slice(0, -1))
    const task = room()
    task.readsChanges()
    task.connects(joinedAt('50'))
    await settle()
    const changes = () => asked.filter((url) => url.includes('/git/diff'))
    expect(changes()).toEqual([`/api/tasks/${id}/git/diff`])
    task.tells(log, ...log.slice(-1))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(changes().slice(1)).toEqual([`/api/tasks/${id}/git/diff?minPosition=60`])
  })

  test('asks, after a loss, for what came since the last it saw, and reads nothing again', async () => {
    const log = recordedLog([...running, waits(2), waits(3)])
    const asked = server(() => log.slice(0, -2))
    const task = room()
    task.connects(joinedAt('50'))
    await settle()
    const [second, third] = log.slice(-2)
    if (second !== undefined) task.tells(log, second)
    await settle()
    const reads = asked.length
    task.connects(joinedAt('70'))
    if (third !== undefined) task.tells(log, third)
    await settle()
    expect(task.joins).toEqual([null, second?.position])
    expect(asked.length).toBe(reads)
    expect(task.messages()).toHaveLength(3)
  })

  // Holds contract 8.17h.
  test.each([
    ['exits with 3', succeeded(2, 3), [['error', 'Command execution failed', 'Exit code 3']]],
    [
      'is kept from ending',
      broke(2),
      [['error', 'Command execution failed', 'The agent said nothing for 15 minutes.']],
    ],
    ['exits with 0', succeeded(2, 0), []],
    ['is cancelled', stopped(2), []],
  ])('tells of a command that %s: %j', async (_, end, toasts) => {
    const log = recordedLog([...commandRunning(completed), end])
    server(() => log.slice(0, -1))
    const task = room()
    task.connects(joinedAt(log.at(-2)?.position ?? null))
    await settle()
    task.tells(log, ...log.slice(-1))
    await settle()
    expect(task.toasts()).toEqual(toasts)
  })

  test('shows words as they are said, and after a crash only what the log has of them', async () => {
    const log = recordedLog([...running, broke(1)])
    server(() => log.slice(0, -1))
    const task = room()
    task.connects(joinedAt(log.at(-2)?.position ?? null))
    await settle()
    const words = { taskId: id, messageId: 'm', executionId: executionId(1), offset: 0 }
    task.says({ ...words, text: 'I ' }, { ...words, text: 'I look' })
    await settle()
    expect(task.written()).toEqual(['I look'])
    task.records({ ...words, text: 'I l', position: '900', version: 0 })
    await settle()
    expect(task.written()).toEqual(['I look'])
    task.tells(log, ...log.slice(-1))
    await settle()
    expect(task.written()).toEqual(['I l'])
  })

  test('shows a thought as it is written, until it is recorded', async () => {
    const of = { executionId: executionId(1), messageId: messageId(9) }
    const whole = ThinkingRecorded.of({ ...of, agent: 'claude', durationMs: 9 }, { text: 'Let me see.' })
    const log = recordedLog([...running, whole])
    server(() => log.slice(0, -1))
    const task = room()
    task.connects(joinedAt(log.at(-2)?.position ?? null))
    await settle()
    const words = { ...of, taskId: id, isThought: true } as const
    task.says({ ...words, offset: 0, text: 'Let me' })
    await settle()
    expect(task.written()).toEqual(['Let me'])
    task.tells(log, ...log.slice(-1))
    task.says({ ...words, offset: 6, text: ' see' })
    await settle()
    expect(task.written()).toEqual([])
  })

  test('reads the history again when too much was missed', async () => {
    let log: readonly TaskEventMessage[] = recordedLog(running)
    server(() => log)
    const task = room()
    task.connects(joinedAt('50'))
    await settle()
    log = recordedLog(completed)
    task.connects({ joined: true, resync: true, position: '60' })
    await settle()
    expect(task.state().task?.status).toBe('completed')
  })

  test('reads the history again when a gap does not close', async () => {
    const log = recordedLog([...running, waits(2), waits(3)])
    let known: readonly TaskEventMessage[] = log.slice(0, -2)
    server(() => known)
    const task = room()
    task.connects(joinedAt('50'))
    await settle()
    task.tells(log, ...log.slice(-1))
    await settle()
    expect(task.messages()).toHaveLength(1)
    expect(task.behind()).toBe(1)
    known = log
    await vi.advanceTimersByTimeAsync(2_000)
    expect(task.messages()).toHaveLength(3)
    expect(task.behind()).toBe(0)
  })

  test('does without the connection when it does not come', async () => {
    const asked = server(
      () => recordedLog(running),
      () => ['one\n'],
    )
    const task = room()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(asked).toEqual([])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(task.messages()).toHaveLength(1)
    expect(task.lines()).toEqual(['one'])
  })

  test('says so when there is no such task', async () => {
    server(() => [])
    const task = room()
    task.connects({ joined: false, error: 'There is no such task.', code: 'not_found' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(task.state().load).toMatchObject({ kind: 'failed', fault: { status: 404 } })
    expect(task.joins).toHaveLength(1)
  })

  test('tries again to join when the server could not let it in, and misses nothing', async () => {
    const log = recordedLog([...running, waits(2)])
    server(() => log.slice(0, -1))
    const task = room()
    task.connects(joinedAt('50'))
    await settle()
    const seen = task.state().seen
    task.connects({ joined: false, error: 'The log is away.', code: 'engine_unavailable' })
    await settle()
    expect(task.joins).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(2_000 + 4_000)
    expect(task.joins).toEqual([null, '50', '50', '50'])
    expect(task.state().seen).toBe(seen)
    // The connection was established again, so the pending retry must not join as well.
    task.connects(joinedAt('60'))
    task.tells(log, ...log.slice(-1))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(task.joins).toHaveLength(5)
    expect(task.messages()).toHaveLength(2)
  })

  test.each([
    ['was deleted meanwhile', true],
    ['is still there', false],
  ])('finds out whether a task that it may no longer join %s', async (_, isDeleted) => {
    const log = recordedLog(running)
    let known = log
    server(() => known)
    const task = room()
    task.connects(joinedAt('50'))
    await settle()
    if (isDeleted) known = []
    task.connects({ joined: false, error: 'There is no such task.', code: 'not_found' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(task.joins.length > 2).toBe(!isDeleted)
    expect(task.state().load).toMatchObject(
      isDeleted ? { kind: 'failed', fault: { status: 404 } } : { kind: 'loaded' },
    )
    known = log
    task.connects(joinedAt('50'))
    await settle()
    expect(task.state().load).toEqual({ kind: 'loaded' })
  })

  test('comes back after a refresh that was answered as if there were no such task', async () => {
    server(() => recordedLog(running))
    const task = room(() => true)
    task.connects(joinedAt('50'))
    await settle()
    let refreshes = 0
    refusing(404, () => (refreshes += 1) === 1)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(task.state().load).toMatchObject({ kind: 'failed', fault: { status: 404 } })
    task.connects(joinedAt('50'))
    await settle()
    expect(task.state().load).toEqual({ kind: 'loaded' })
  })

  test('is opened by itself once the server has caught up', async () => {
    server(() => recordedLog(running))
    const begun = Date.now()
    refusing(504, (url) => url.includes('minPosition') && Date.now() < begun + 3_000)
    const task = room()
    task.connects(joinedAt('50'))
    await settle()
    expect(task.state().load).toMatchObject({ kind: 'failed', fault: { status: 504 } })
    await vi.advanceTimersByTimeAsync(6_000)
    expect(task.messages()).toHaveLength(1)
    expect(task.state().load).toEqual({ kind: 'loaded' })
  })

  test('keeps what is on the screen when reading it again fails, and goes on from there', async () => {
    const log = recordedLog([...running, waits(2)])
    server(() => log.slice(0, -1))
    const task = room()
    task.connects(joinedAt('50'))
    await settle()
    vi.stubGlobal('fetch', async () => new Response('{}', { status: 503 }))
    task.opened.reload()
    await settle()
    task.tells(log, ...log.slice(-1))
    await settle()
    expect(task.state().load.kind).toBe('loaded')
    expect(task.messages()).toHaveLength(2)
  })

  test('goes on from there also when a second read began before the first had failed', async () => {
    const log = recordedLog([...running, waits(2)])
    server(() => log.slice(0, -1))
    const task = room()
    task.connects(joinedAt('50'))
    await settle()
    vi.stubGlobal(
      'fetch',
      () => new Promise((resolve) => setTimeout(() => resolve(new Response('{}', { status: 503 })), 100)),
    )
    task.opened.reload()
    await vi.advanceTimersByTimeAsync(50)
    task.opened.reload()
    await settle()
    task.tells(log, ...log.slice(-1))
    await settle()
    expect(task.messages()).toHaveLength(2)
  })

  test('reads again by itself what it could not read, even if nothing else happens', async () => {
    const log = recordedLog([...running, waits(2)])
    server(() => log.slice(0, -1))
    const task = room()
    task.connects(joinedAt('50'))
    await settle()
    vi.stubGlobal('fetch', async () => new Response('{}', { status: 503 }))
    task.opened.reload()
    await settle()
    server(() => log)
    await vi.advanceTimersByTimeAsync(6_000)
    expect(task.messages()).toHaveLength(2)
  })

  test.each(['chat', 'commands', 'questions', 'terminal'])(
    'reads again by itself when only %s could not be read, also while events come',
    async (part) => {
      const log = recordedLog([...running, toolStarted(1, 'a'), toolStarted(1, 'b')])
      let known: readonly TaskEventMessage[] = log.slice(0, -1)
      server(
        () => known,
        () => ['one\n'],
      )
      let reads = 0
      refusing(503, (url) => url.includes(`/${part}`) && ++reads === 1)
      const task = room()
      task.connects(joinedAt('60'))
      await settle()
      expect(reads).toBe(1)
      known = log
      task.tells(log, ...log.slice(-1))
      await vi.advanceTimersByTimeAsync(6_000)
      expect(reads).toBe(2)
      expect(task.messages()).toHaveLength(1)
      expect(task.tools()).toEqual(['npm test', 'npm test'])
      expect(task.lines()).toEqual(['one'])
      await vi.advanceTimersByTimeAsync(60_000)
      expect(reads).toBe(2)
    },
  )

  test('begins anew when the server has an older log than what was shown', async () => {
    const log = recordedLog([...running, waits(2), waits(3), waits(4)])
    let known = log
    let printed = ['one\n', 'lost\n']
    server(
      () => known,
      () => printed,
    )
    const task = room()
    task.connects(joinedAt('80'))
    await settle()
    expect(task.messages()).toHaveLength(4)
    task.opened.reload()
    await settle()
    known = log.slice(0, 5)
    printed = ['one\n']
    task.connects({ joined: true, resync: true, position: '50' })
    await settle()
    expect(task.state().task?.version).toBe(4)
    expect(task.messages()).toHaveLength(1)
    expect(task.lines()).toEqual(['one'])
    const other = recordedLog([...running, waits(5)])
    task.tells(other, ...other.slice(-1))
    task.prints(output(1, 'new\n'))
    await settle()
    expect(task.messages().slice(1)).toEqual(['message 5'])
    expect(task.lines()).toEqual(['one', 'new'])
  })

  test('shows output once that arrived without a frame before it was read again', async () => {
    vi.stubGlobal('requestAnimationFrame', () => 1)
    server(
      () => recordedLog(running),
      () => ['one\n', 'two\n', 'three\n'],
    )
    const task = room()
    task.connects(joinedAt('50'))
    await settle()
    task.prints(output(3, 'four\n'), output(4, 'five\n'))
    server(
      () => recordedLog(running),
      () => ['one\n', 'two\n', 'three\n', 'four\n', 'five\n'],
    )
    task.connects({ joined: true, resync: true, position: '2000' })
    await settle()
    expect(task.lines()).toEqual(['one', 'two', 'three', 'four', 'five'])
  })

  test('leaves when it is closed', async () => {
    server(() => recordedLog(running))
    const task = room()
    task.connects(joinedAt('50'))
    await settle()
    task.opened.close()
    expect(task.hasViewer()).toBe(false)
    expect(task.state().taskId).toBeNull()
  })
})
