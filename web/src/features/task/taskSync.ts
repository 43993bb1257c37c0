/**
 * Keeps an open task live. It joins the task's room at a position in the log, reads the history up to that position, and then delivers what arrived
 * meanwhile, so that nothing is missed or applied twice. After a lost connection it requests the missed events; if they are too many, or a gap
 * appears, it reads the history again.
 */
import type { ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import type { ChatMessage, MessageDelta, TerminalOutput } from '#domain/api/chat.schema.ts'
import type { TaskEventMessage } from '#domain/api/socket.schema.ts'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import { outcomeOf } from '#domain/views/chat.ts'
import type { ApiFault } from '../../api/fault.ts'
import { api } from '../../api/api.ts'
import { isUnknownId } from '../../api/isUnknownId.ts'
import { readsAwait } from '../../api/session.ts'
import { catchingUp } from '../../live/connection.ts'
import { createFrameBatcher, type FrameBatcher } from '../../live/frameBatcher.ts'
import type { Live } from '../../live/live.ts'
import type { Join, LiveWords, Viewer } from '../../live/viewer.ts'
import { cover, receive, unsequenced, type Received, type Sequencer } from '../../live/sequencer.ts'
import { notified } from '../notifications/notifications.ts'
import {
  chatFailed,
  chatLoaded,
  eventsCame,
  logsFailed,
  logsLoaded,
  messageCame,
  questionsFailed,
  questionsLoaded,
  statusCame,
  taskClosed,
  taskFailed,
  taskLoaded,
  taskOpened,
} from './taskSlice.ts'
import { historyPage, taskApi } from './taskApi.ts'
import { readTerminal } from './terminal/log/readTerminal.ts'
import type { TerminalLog } from './terminal/log/terminalLog.ts'
import { endOfWriting, type Writing } from './chat/streamingText.ts'
import { texts } from './texts.ts'

/** The delay before a task is loaded (contract, section 9), in milliseconds. */
const loadDelayMs = 100
/** How long reading the history waits for the connection, in milliseconds; after that, the history is read without it. */
const connectionGraceMs = 1_500
/** The polling interval for a pending task (contract, section 9), and for a queued or running one without a connection, in milliseconds. */
const refreshIntervalMs = 5_000
/** How long a gap may last, or a part of the history be missing, before the history is read again, in milliseconds; doubled after each read. */
const gapMs = 1_000
const maxGapMs = 30_000
/** How long to wait before joining again after a temporary refusal, in milliseconds; doubled each time. */
const joinRetryMs = 2_000
const maxJoinRetryMs = 30_000
/** The minimum interval between fetches of the diff, in milliseconds. */
const diffIntervalMs = 1_000

interface Collaborators {
  readonly dispatch: ThunkDispatch<unknown, unknown, UnknownAction>
  readonly live: Live
  readonly terminal: TerminalLog
  readonly writing: Writing
  /** Whether the shown task must be polled because no event will report its changes. */
  readonly needsRefresh: () => boolean
  readonly isCommand: (messageId: string) => boolean
}

export type TaskSync = ReturnType<typeof openTaskSync>

/** Something that happened at a revision of the task: an event, or the message that is sent in place of the event. */
type TaskItem = { readonly version: number } & (
  | { readonly event: TaskEventMessage }
  | { readonly message: ChatMessage }
)
type TerminalItem =
  | ({ readonly kind: 'output' } & TerminalOutput)
  | ({ readonly kind: 'delta' } & MessageDelta)

/** The internal state of one open task; the functions below work on it. */
interface Sync extends Collaborators {
  readonly taskId: string
  readonly frames: FrameBatcher
  readonly openedAt: number
  readonly leaving: AbortController
  closed: boolean
  join: Join | null
  /** The last position that was received. After a reconnect, everything after this position is requested. */
  seen: Position | null
  taskStream: Sequencer<TaskItem>
  terminalStream: Sequencer<TerminalItem>
  /** How far both streams were shown before a read of the history reset them; kept for a read that begins meanwhile. */
  shownBeforeRead: { readonly task: number | null; readonly terminal: number | null }
  /** Items that have arrived but are not shown yet. */
  readonly arrived: { happened: TaskItem[]; items: TerminalItem[]; words: LiveWords[] }
  /** Whether the server said at the last read that there is no such task. */
  isGone: boolean
  /** Whether the latest read failed, or a part of it. */
  isIncomplete: boolean
  /** The number of the latest read of the history: the results of earlier reads are ignored. */
  reading: number
  gapWait: number
  gapTimer: ReturnType<typeof setTimeout> | undefined
  diffTimer: ReturnType<typeof setTimeout> | undefined
  joinWait: number
  joinTimer: ReturnType<typeof setTimeout> | undefined
}

/** Opens a task and keeps it live until it is closed. */
export function openTaskSync(taskId: string, collaborators: Collaborators) {
  const { dispatch, live, needsRefresh } = collaborators
  const sync: Sync = {
    ...collaborators,
    taskId,
    frames: createFrameBatcher(() => flush(sync)),
    openedAt: Date.now(),
    leaving: new AbortController(),
    closed: false,
    join: null,
    seen: null,
    taskStream: unsequenced(),
    terminalStream: unsequenced(),
    shownBeforeRead: { task: null, terminal: null },
    arrived: { happened: [], items: [], words: [] },
    isGone: false,
    isIncomplete: false,
    reading: 0,
    gapWait: gapMs,
    gapTimer: undefined,
    diffTimer: undefined,
    joinWait: joinRetryMs,
    joinTimer: undefined,
  }
  dispatch(taskOpened(taskId))
  const graceTimer = setTimeout(() => {
    if (sync.reading === 0) void readHistory(sync, undefined)
  }, connectionGraceMs)
  const refreshTimer = setInterval(() => {
    if (needsRefresh()) void readTask(sync, undefined)
  }, refreshIntervalMs)
  const leave = live.enter(viewerOf(sync))
  return {
    reload: () => void rejoin(sync),
    close(): void {
      sync.closed = true
      sync.leaving.abort()
      leave()
      sync.frames.stop()
      clearTimeout(graceTimer)
      clearTimeout(sync.gapTimer)
      clearTimeout(sync.diffTimer)
      clearTimeout(sync.joinTimer)
      clearInterval(refreshTimer)
      dispatch(catchingUp(0))
      dispatch(taskClosed(taskId))
    },
  }
}

function viewerOf(sync: Sync): Viewer {
  return {
    taskId: sync.taskId,
    connected: (join) => {
      sync.join = join
      sync.joinWait = joinRetryMs
      void joinTask(sync)
    },
    taskEvent: (event) => {
      markSeen(sync, event.position)
      takeTask(sync, receive(sync.taskStream, [{ version: event.revision, event }]))
    },
    chatMessage: (message) => {
      markSeen(sync, message.position)
      takeTask(sync, receive(sync.taskStream, [{ version: message.version, message }]))
    },
    terminalOutput: (output) => {
      markSeen(sync, output.position)
      takeTerminal(sync, receive(sync.terminalStream, [{ kind: 'output', ...output }]))
    },
    words: (words) => {
      sync.arrived.words.push(words)
      sync.frames.request()
    },
    messageDelta: (delta) => {
      markSeen(sync, delta.position)
      takeTerminal(sync, receive(sync.terminalStream, [{ kind: 'delta', ...delta }]))
    },
    statusChanged: (change) => {
      // The status is shown after the events before it, in the same frame.
      flush(sync)
      sync.dispatch(statusCame(change))
    },
    resync: () => void rejoin(sync),
  }
}

async function joinTask(sync: Sync): Promise<void> {
  clearTimeout(sync.joinTimer)
  if (sync.join === null || sync.closed) return
  const missedFrom = sync.reading === 0 ? null : sync.seen
  const answer = await sync.join(missedFrom)
  if (sync.closed) return
  if (!answer.joined) {
    // Any other refusal is temporary: the server was slow, or a store that it needs was unavailable.
    if (answer.code !== 'invalid_input') joinLater(sync)
    // A person who may not join may not read either, so the history is read: the read returns the reason.
    if (sync.reading === 0 || answer.code === 'not_found') await readHistory(sync, undefined)
    if (sync.isGone) clearTimeout(sync.joinTimer)
    return
  }
  sync.joinWait = joinRetryMs
  // If the server has sent the missed events, and there is a history to which they can be added, the history need not be read.
  if (missedFrom !== null && !answer.resync && sync.taskStream.at !== null && !sync.isGone) return
  sync.seen = answer.position
  // The log was restored to an older copy, so what is shown may no longer be in it.
  if (answer.resync && missedFrom !== null && comparePositions(answer.position ?? '0', missedFrom) < 0) {
    flush(sync)
    sync.taskStream = unsequenced()
    sync.terminalStream = unsequenced()
    sync.shownBeforeRead = { task: null, terminal: null }
    sync.dispatch(taskOpened(sync.taskId))
  }
  await readHistory(sync, answer.position ?? undefined)
}

/** Retries joining after a while: until a join succeeds no events arrive, although the connection is up. */
function joinLater(sync: Sync): void {
  clearTimeout(sync.joinTimer)
  sync.joinTimer = setTimeout(() => void joinTask(sync), sync.joinWait)
  sync.joinWait = Math.min(sync.joinWait * 2, maxJoinRetryMs)
}

/** Joins at the current position if there is a connection, and reads the history at least up to that position. */
async function rejoin(sync: Sync): Promise<void> {
  sync.seen = null
  if (sync.join === null) return readHistory(sync, undefined)
  const answer = await sync.join(null)
  if (answer.joined) sync.seen = answer.position
  if (!sync.closed) await readHistory(sync, sync.seen ?? undefined)
}

/** Reads the history. Items that arrive meanwhile are held. */
async function readHistory(sync: Sync, minPosition: Position | undefined): Promise<void> {
  // What is read contains what has arrived, so nothing of that may be shown after it.
  flush(sync)
  sync.reading += 1
  const mine = sync.reading
  const shownBeforeRead = {
    task: sync.taskStream.at ?? sync.shownBeforeRead.task,
    terminal: sync.terminalStream.at ?? sync.shownBeforeRead.terminal,
  }
  sync.shownBeforeRead = shownBeforeRead
  sync.taskStream = { at: null, held: sync.taskStream.held }
  sync.terminalStream = { at: null, held: sync.terminalStream.held }
  const wait = sync.openedAt + loadDelayMs - Date.now()
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
  const isCurrent = () => !sync.closed && mine === sync.reading

  const task = await readTask(sync, minPosition)
  // Shows nothing more of a task that is gone. The next successful join reads its history again.
  if (!isCurrent() || sync.isGone) return
  if (task === null) {
    // After a failed read, the shown task continues from where it was.
    if (shownBeforeRead.task !== null) takeTask(sync, cover(sync.taskStream, shownBeforeRead.task))
    if (shownBeforeRead.terminal !== null)
      takeTerminal(sync, cover(sync.terminalStream, shownBeforeRead.terminal))
    sync.isIncomplete = true
    watchGap(sync, false)
    return
  }
  const query = { taskId: sync.taskId, minPosition }
  const fresh = { forceRefetch: true, subscribe: false } as const
  const [chat, logs, questions, output] = await Promise.all([
    sync.dispatch(taskApi.endpoints.chat.initiate(query, fresh)),
    sync.dispatch(taskApi.endpoints.commands.initiate(query, fresh)),
    sync.dispatch(taskApi.endpoints.questions.initiate(query, fresh)),
    readTerminal(sync.taskId, minPosition, sync.leaving.signal),
  ])
  if (!isCurrent()) return
  sync.dispatch(
    chat.data === undefined
      ? chatFailed(faultOf(chat.error))
      : chatLoaded({ ...chat.data, more: chat.data.messages.length >= historyPage.messages }),
  )
  sync.dispatch(
    logs.data === undefined
      ? logsFailed(faultOf(logs.error))
      : logsLoaded({ ...logs.data, more: logs.data.logs.length >= historyPage.calls }),
  )
  sync.dispatch(
    questions.data === undefined
      ? questionsFailed(faultOf(questions.error))
      : questionsLoaded({ ...questions.data, taskId: sync.taskId }),
  )
  if ('data' in output) {
    sync.writing.reset(output.data.deltas)
    await sync.terminal.reset(output.data.output, output.whole)
    if (!isCurrent()) return
  } else {
    sync.terminal.fail(output.reason)
  }
  const parts = [task, chat.data, logs.data, questions.data]
  sync.isIncomplete = parts.includes(undefined) || !('data' in output)
  takeTask(sync, cover(sync.taskStream, Math.min(...parts.flatMap((part) => part?.version ?? []))))
  // If the output could not be read, and none was read before, new output has nothing to follow: it is held until a read succeeds.
  const printed = 'data' in output ? output.data.version : shownBeforeRead.terminal
  if (printed !== null) takeTerminal(sync, cover(sync.terminalStream, printed))
  flush(sync)
}

async function readTask(sync: Sync, minPosition: Position | undefined) {
  const { dispatch, taskId } = sync
  const { data, error } = await dispatch(
    taskApi.endpoints.task.initiate({ taskId, minPosition }, { forceRefetch: true, subscribe: false }),
  )
  if (sync.closed) return null
  // An answer that does not contain this task counts as a failure (screens, section 2).
  const fault = data === undefined ? faultOf(error) : notSelected
  sync.isGone = isUnknownId(fault)
  if (data?.task?.id !== taskId) {
    dispatch(taskFailed(fault))
    return null
  }
  dispatch(taskLoaded(data.task))
  return data.task
}

function markSeen(sync: Sync, position: Position): void {
  if (sync.seen === null || comparePositions(position, sync.seen) > 0) sync.seen = position
}

function takeTask(sync: Sync, { sequencer, ready, gap }: Received<TaskItem>): void {
  sync.taskStream = sequencer
  for (const item of ready) sync.arrived.happened.push(item)
  watchGap(sync, gap)
  if (ready.length > 0) sync.frames.request()
}

function takeTerminal(sync: Sync, { sequencer, ready, gap }: Received<TerminalItem>): void {
  sync.terminalStream = sequencer
  for (const item of ready) sync.arrived.items.push(item)
  watchGap(sync, gap)
  if (ready.length > 0) sync.frames.request()
}

/** If a gap between received events does not close by itself, or a part of the history could not be read, the history is read again. */
function watchGap(sync: Sync, gap: boolean): void {
  const isOpen = gap || sync.isIncomplete || hasGap(sync.taskStream) || hasGap(sync.terminalStream)
  if (!isOpen) {
    if (sync.gapWait !== gapMs) sync.dispatch(catchingUp(0))
    clearTimeout(sync.gapTimer)
    sync.gapTimer = undefined
    sync.gapWait = gapMs
    return
  }
  if (sync.gapTimer !== undefined) return
  sync.dispatch(catchingUp(sync.taskStream.held.size + sync.terminalStream.held.size))
  sync.gapTimer = setTimeout(() => {
    sync.gapTimer = undefined
    void rejoin(sync)
  }, sync.gapWait)
  sync.gapWait = Math.min(sync.gapWait * 2, maxGapMs)
}

function flush(sync: Sync): void {
  if (sync.closed) return
  const { terminal, writing, arrived } = sync
  const items = arrived.items.splice(0)
  if (items.length > 0) {
    terminal.append(items.filter((item) => item.kind === 'output'))
    writing.append(items.filter((item) => item.kind === 'delta'))
  }
  const words = arrived.words.splice(0)
  if (words.length > 0) writing.appendLive(words)
  const happened = arrived.happened.splice(0)
  if (happened.length > 0) showTask(sync, happened)
}

function showTask(sync: Sync, happened: readonly TaskItem[]): void {
  const { dispatch, writing, isCommand } = sync
  const events: TaskEventMessage[] = []
  const messages: ChatMessage[] = []
  let between: TaskEventMessage[] = []
  const showEvents = () => {
    if (between.length > 0) dispatch(eventsCame(between))
    events.push(...between)
    between = []
  }
  for (const item of happened) {
    if ('event' in item) {
      between.push(item.event)
      continue
    }
    showEvents()
    dispatch(messageCame(item.message))
    messages.push(item.message)
  }
  showEvents()
  for (const why of failuresOf(events, isCommand))
    dispatch(notified('error', texts.toasts.commandFailed, why))
  for (const event of events) {
    const executionId = endOfWriting(event)
    if (executionId !== null) writing.settle(executionId)
    if (event.type === 'ThinkingRecorded') writing.drop([event.data.messageId])
  }
  writing.drop(messages.map(({ id }) => id))
  // Feedback with the status `sent` gets the status `open` again when its turn fails, and `sent` when the turn is retried.
  if (
    events.some(({ type }) => /^(Feedback|Execution)/.test(type)) ||
    messages.some(({ isVisible }) => !isVisible)
  ) {
    // An event can arrive before the server's answers show it.
    if (sync.seen !== null) dispatch(readsAwait(sync.seen))
    dispatch(api.util.invalidateTags([{ type: 'Chat', id: `feedback ${sync.taskId}` }]))
  }
  if (events.some(({ type }) => type === 'WorkspaceChanged' || type === 'WorkspacePrepared'))
    refreshDiff(sync)
}

function refreshDiff(sync: Sync): void {
  // The server may compute the changes before its read models contain the event.
  if (sync.seen !== null) sync.dispatch(readsAwait(sync.seen))
  if (sync.diffTimer !== undefined) return
  sync.diffTimer = setTimeout(() => {
    sync.diffTimer = undefined
    sync.dispatch(api.util.invalidateTags([{ type: 'Diff', id: sync.taskId }]))
  }, diffIntervalMs)
}

/** Why commands failed, according to the received events: their exit codes, or the reason why they did not end normally. */
function failuresOf(
  events: readonly TaskEventMessage[],
  isCommand: (messageId: string) => boolean,
): readonly (string | undefined)[] {
  return events.flatMap((event) => {
    if (event.type !== 'ExecutionCompleted' && event.type !== 'ExecutionFailed') return []
    const { messageId, exitCode } = event.data
    if (!isCommand(messageId) || outcomeOf(event, true) !== 'failed') return []
    const reason = event.type === 'ExecutionFailed' ? event.content?.reason : undefined
    return [exitCode === null ? reason : texts.toasts.exit(exitCode)]
  })
}

function hasGap({ at, held }: Sequencer<TaskItem> | Sequencer<TerminalItem>): boolean {
  return at !== null && held.size > 0
}

export const notSelected: ApiFault = {
  status: null,
  code: 'no_task',
  message: texts.notSelected,
  field: null,
}

/** The fault of a failed call; errors that Redux Toolkit makes itself have no status. */
function faultOf(error: ApiFault | { readonly message?: string | undefined } | undefined): ApiFault {
  if (error !== undefined && 'status' in error) return error
  return { status: null, code: 'unknown', message: error?.message ?? '', field: null }
}
