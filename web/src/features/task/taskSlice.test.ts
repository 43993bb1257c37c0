import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TaskEventMessage, TaskStatusChanged } from '#domain/api/socket.schema.ts'
import { chatMessageOf, chatView, type MessageDocument } from '#domain/views/chat.ts'
import { logEntryOf, logView, type LogDocument } from '#domain/views/commandLog.ts'
import { taskOf, tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { ExecutionStarted, MessageQueued, ToolStarted } from '#domain/task/events.ts'
import { messageInPlaceOf } from '../../../../tests/domain/chatMessages.ts'
import { executionId, messageId, taskId } from '../../../../tests/domain/ids.ts'
import { recorded } from '../../../../tests/domain/recorded.ts'
import { lives, logOf } from '../../../../tests/domain/taskLives.ts'
import { cover, receive, unsequenced, type Received } from '../../live/sequencer.ts'
import {
  chatLoaded,
  earlierLoaded,
  eventsCame,
  logsLoaded,
  messageCame,
  messageRefused,
  messageSent,
  messageTaken,
  nothingOpen,
  openTaskReducer,
  statusCame,
  taskLoaded,
  taskOpened,
  type OpenTask,
} from './taskSlice.ts'
import { foldView } from '../../../../tests/domain/fold.ts'

const addressOf = ({ imageId }: { imageId: string }) => `/api/images/${imageId}`

const id = taskId(1)
type Log = readonly TaskEventMessage[]
type Action = Parameters<typeof openTaskReducer>[1]

const upTo = (log: Log, version: number) => log.filter(({ revision }) => revision <= version)
const taskAt = (log: Log, version: number): TaskDocument | undefined =>
  foldView(tasksView, new Map(), upTo(log, version)).get(id)
const shownTask = (log: Log, version: number) => {
  const document = taskAt(log, version)
  return document && taskOf(document, undefined, addressOf)
}

/** The chat as the server answers it after folding up to this version. */
function chatAt(log: Log, version: number) {
  const task = taskAt(log, version)
  const owner = { owner: task?.owner ?? '', projectId: task?.projectId ?? '' }
  const documents = [...foldView<MessageDocument>(chatView, new Map(), upTo(log, version)).values()]
  return { version, messages: documents.map((document) => chatMessageOf(document, owner, addressOf)) }
}
function logsAt(log: Log, version: number) {
  return {
    version,
    logs: [...foldView<LogDocument>(logView, new Map(), upTo(log, version)).values()].map((entry) =>
      logEntryOf(entry, addressOf),
    ),
    open: [],
  }
}

/** The status message after an event; `null` when the event did not change the status. */
function saidAfter(log: Log, event: TaskEventMessage): TaskStatusChanged | null {
  const before = taskAt(log, event.revision - 1)
  const after = taskAt(log, event.revision)
  if (after === undefined || (before?.status === after.status && before.progress === after.progress))
    return null
  const { revision: version, position, meta } = event
  return {
    taskId: id,
    status: after.status,
    progress: after.progress,
    version,
    position,
    commandId: meta.commandId,
  }
}

function after(state: OpenTask, ...actions: readonly Action[]): OpenTask {
  return actions.reduce(openTaskReducer, state)
}

/** The state of a page that watches a task: its history is read in parts at different times, while events arrive in any order. */
function watched(
  log: Log,
  read: { task: number; chat: number; logs: number; before: number },
  deliveries: Log,
): OpenTask {
  let state = after(nothingOpen, taskOpened(id))
  let sequencer = unsequenced<{ version: number; event: TaskEventMessage }>()
  const take = (received: Received<{ version: number; event: TaskEventMessage }>) => {
    sequencer = received.sequencer
    for (const { event } of received.ready) {
      const message = messageInPlaceOf(log, event)
      state = after(state, message ? messageCame(message) : eventsCame([event]))
    }
  }
  const readAll = () => {
    const task = shownTask(log, read.task)
    if (task !== undefined) state = after(state, taskLoaded(task))
    state = after(state, chatLoaded(chatAt(log, read.chat)), logsLoaded(logsAt(log, read.logs)))
    take(cover(sequencer, Math.min(read.task, read.chat, read.logs)))
  }
  deliveries.forEach((event, index) => {
    if (index === read.before) readAll()
    take(receive(sequencer, [{ version: event.revision, event }]))
    const said = saidAfter(log, event)
    if (said !== null) state = after(state, statusCame(said))
  })
  if (read.before >= deliveries.length) readAll()
  return state
}

/** The event without images, which the client does not store yet. */
function withoutImages(event: TaskEventMessage): TaskEventMessage {
  return event.type === 'MessageQueued' ? { ...event, data: { ...event.data, images: [] } } : event
}

const watching = lives()
  .map((life) => logOf(life).map(withoutImages))
  .filter((log) => log.length > 1)
  .chain((log) =>
    fc.record({
      log: fc.constant(log),
      read: fc.record({
        task: fc.nat({ max: log.length - 1 }),
        chat: fc.nat({ max: log.length - 1 }),
        logs: fc.nat({ max: log.length - 1 }),
        before: fc.nat({ max: log.length }),
      }),
      deliveries: fc
        .array(fc.constantFrom(...log), { maxLength: 10 })
        .chain((again) => fc.shuffledSubarray([...log, ...again], { minLength: log.length + again.length })),
    }),
  )

describe('an open task', () => {
  // Holds contract 4.2a.
  test('shows in the end what the server shows, whenever its parts were read and however its events came', () => {
    fc.assert(
      fc.property(watching, ({ log, read, deliveries }) => {
        const end = log.length - 1
        const state = watched(log, read, deliveries)
        expect(state.chat.documents).toEqual(Object.fromEntries(foldView(chatView, new Map(), log)))
        expect(state.logs.documents).toEqual(Object.fromEntries(foldView(logView, new Map(), log)))
        const shown = shownTask(log, end)
        expect(state.task).toEqual(shown ?? null)
        expect(state.deleted).toBe(shown === undefined && taskAt(log, read.task) !== undefined)
      }),
      { numRuns: 150 },
    )
  })

  test('an older reading changes nothing that is known better', () => {
    fc.assert(
      fc.property(watching, ({ log, read }) => {
        const end = log.length - 1
        const latest = shownTask(log, end)
        fc.pre(latest !== undefined)
        const now = after(
          nothingOpen,
          taskOpened(id),
          ...(latest ? [taskLoaded(latest)] : []),
          chatLoaded(chatAt(log, end)),
        )
        const older = shownTask(log, read.task)
        const later = after(now, ...(older ? [taskLoaded(older)] : []), chatLoaded(chatAt(log, read.chat)))
        expect(later.task).toEqual(now.task)
        expect(later.chat.documents).toEqual(now.chat.documents)
      }),
      { numRuns: 50 },
    )
  })
})

describe('a history that is read in pages', () => {
  test('is the same as one that is read at once, whatever came meanwhile', () => {
    const reading = lives()
      .map((life) => logOf(life).map(withoutImages))
      .filter((log) => log.length > 1)
      .chain((log) =>
        fc.record({
          log: fc.constant(log),
          read: fc.nat({ max: log.length - 1 }),
          page: fc.integer({ min: 1, max: 5 }),
          again: fc.boolean(),
        }),
      )
    const placed = <D extends { readonly position: string }>(all: readonly D[]) =>
      all.toSorted((a, b) => Number(a.position) - Number(b.position))
    fc.assert(
      fc.property(reading, ({ log, read, page, again }) => {
        const end = log.length - 1
        const latest = (version: number) => {
          const chat = chatAt(log, version)
          const logs = logsAt(log, version)
          return [
            chatLoaded({
              version,
              messages: placed(chat.messages).slice(-page),
              more: chat.messages.length > page,
            }),
            logsLoaded({
              version,
              logs: placed(logs.logs).slice(-page),
              open: placed(logs.logs)
                .slice(0, -page)
                .filter(({ status }) => status === 'queued' || status === 'running'),
              more: logs.logs.length > page,
            }),
          ]
        }
        let state = after(nothingOpen, taskOpened(id), ...latest(read))
        state = after(state, eventsCame(log.filter(({ revision }) => revision > read)))
        // Reading the history again keeps the older pages.
        if (again) state = after(state, ...latest(end))
        for (
          let left = log.length;
          left > 0 && (state.chat.before !== null || state.logs.before !== null);
          left -= 1
        ) {
          const before = <D extends { readonly position: string }>(from: string | null, all: readonly D[]) =>
            from === null ? [] : placed(all).filter(({ position }) => Number(position) < Number(from))
          const messages = before(state.chat.before, chatAt(log, end).messages)
          const logs = before(state.logs.before, logsAt(log, end).logs)
          state = after(
            state,
            earlierLoaded({
              taskId: id,
              messages: messages.slice(-page),
              logs: logs.slice(-page),
              more: { chat: messages.length > page, logs: logs.length > page },
            }),
          )
        }
        expect(state.chat.documents).toEqual(Object.fromEntries(foldView(chatView, new Map(), log)))
        expect(state.logs.documents).toEqual(Object.fromEntries(foldView(logView, new Map(), log)))
      }),
      { numRuns: 150 },
    )
  })

  test('has a command that waited for longer than a page, once it runs', () => {
    const stream = taskStream(id)
    const waits = { messageId: messageId(1), kind: 'command' as const, agent: 'claude' as const, images: [] }
    const starts = { executionId: executionId(2), messageId: messageId(1), attempt: 1, runnerId: 'runner-1' }
    const queued = recorded(MessageQueued.of(waits, { message: 'ls', imageNames: [] }), {
      stream,
      revision: 0,
    })
    const tool = recorded(
      ToolStarted.of(
        { executionId: executionId(1), toolId: 'tool', kind: 'run', parentToolId: null },
        { name: 'Bash', target: 'ls', input: 'ls' },
      ),
      { stream, revision: 1 },
    )
    const started = recorded(ExecutionStarted.of(starts), { stream, revision: 2 })
    const read = logsAt([queued, tool], 1)
    const page = logsLoaded({
      version: 1,
      logs: read.logs.slice(-1),
      open: read.logs.slice(0, 1),
      more: true,
    })
    const state = after(nothingOpen, taskOpened(id), page, eventsCame([started]))
    expect(state.logs.documents).toEqual(
      Object.fromEntries(foldView(logView, new Map(), [queued, tool, started])),
    )
    expect(state.logs.before).toBe(tool.position)
  })
})

describe('a message that is sent', () => {
  const sent = {
    id: messageId(1),
    taskId: id,
    text: 'words',
    isCommand: false,
    agent: 'claude',
    sentAt: '2026-01-01T00:00:00.000Z',
    refused: null,
  } as const
  const open = after(nothingOpen, taskOpened(id), chatLoaded({ messages: [], version: 3 }))
  const message = { ...sent, ...chatAtMessage() }

  test('stands over the chat until the server has it', () => {
    const waiting = after(open, messageSent(sent))
    expect(waiting.sent).toEqual([sent])
    const taken = after(waiting, messageTaken(message))
    expect(taken.sent).toEqual([])
    expect(Object.values(taken.chat.documents).map(({ messageId }) => messageId)).toEqual([sent.id])
  })

  test('stays, with the reason, when it is refused', () => {
    const refused = after(open, messageSent(sent), messageRefused({ id: sent.id, reason: 'Too long.' }))
    expect(refused.sent).toEqual([{ ...sent, refused: 'Too long.' }])
  })

  test('does not come back when the log has passed it', () => {
    const passed = after(
      open,
      messageSent(sent),
      chatLoaded({ messages: [], version: 9 }),
      messageTaken(message),
    )
    expect(Object.keys(passed.chat.documents)).toEqual([])
    expect(passed.sent).toEqual([])
  })

  /** The message as the server answers it, at revision 5. */
  function chatAtMessage() {
    return {
      id: messageId(1),
      task: id,
      project: 'p',
      owner: 'u',
      message: 'words',
      messageType: 'user' as const,
      isCommand: false,
      commandText: null,
      images: [],
      attachments: [],
      isVisible: true,
      isEdited: false,
      commandStatus: 'pending' as const,
      queueIndex: null,
      response: null,
      agent: 'claude' as const,
      createdAt: sent.sentAt,
      updatedAt: sent.sentAt,
      status: 'queued' as const,
      executionId: null,
      position: '5',
      version: 5,
    }
  }
})
