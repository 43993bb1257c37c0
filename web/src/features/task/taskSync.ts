/**
 * An open task, kept live. It joins first, then reads the history up to there, then lets through what came meanwhile:
 * nothing is missed and nothing is seen twice. After a loss of the connection it asks for what came since; when that is
 * too much, or a gap shows, it reads the history again.
 */
import type { ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import type { MessageDelta, MessageWords, TerminalOutput } from '#domain/api/chat.schema.ts'
import type { JoinAnswer, TaskEventMessage } from '#domain/api/socket.schema.ts'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import { outcomeOf } from '#domain/views/chat.ts'
import type { ApiFault } from '../../api/fault.ts'
import { api } from '../../api/api.ts'
import { catchingUp } from '../../live/connection.ts'
import { createFrames } from '../../live/frameBatcher.ts'
import type { Join, Live } from '../../live/live.ts'
import { cover, receive, unsequenced, type Received, type Sequencer } from '../../live/sequencer.ts'
import { notified } from '../notifications/notifications.ts'
import {
  chatFailed,
  chatLoaded,
  eventsCame,
  logsFailed,
  logsLoaded,
  statusCame,
  taskClosed,
  taskFailed,
  taskLoaded,
  taskOpened,
} from './taskSlice.ts'
import { historyPage, taskApi } from './taskApi.ts'
import { readTerminal } from './terminal/log/readTerminal.ts'
import type { TerminalLog } from './terminal/log/terminalLog.ts'
import type { Writing } from './chat/streamingText.ts'
import { texts } from './texts.ts'

/** Milliseconds before a task is loaded (section 9). */
const loadDelayMs = 100
/** How long the history waits for the connection, in milliseconds; then it is read without. */
const connectionGraceMs = 1_500
/** How often a pending task is asked for (section 9), and one that is open without a connection, in milliseconds. */
const refreshEveryMs = 5_000
/** How long a gap may last before the history is read again, in milliseconds; longer each time that did not help. */
const gapMs = 1_000
const longestGapMs = 30_000
/** When joining is tried again that was refused for now, in milliseconds; later each time. */
const joinAgainMs = 2_000
const latestJoinAgainMs = 30_000
/** How often the diff is fetched at most, in milliseconds. */
const diffEveryMs = 1_000

interface Collaborators {
  readonly dispatch: ThunkDispatch<unknown, unknown, UnknownAction>
  readonly live: Live
  readonly terminal: TerminalLog
  readonly writing: Writing
  /** Whether the task on the screen must be asked for because nothing will tell of it. */
  readonly needsRefresh: () => boolean
  /** Whether a message of the task is a command. */
  readonly isCommand: (messageId: string) => boolean
}

export interface Room {
  /** Reads the history again. */
  reload(): void
  close(): void
}

interface TaskItem {
  readonly version: number
  readonly event: TaskEventMessage
}
type TerminalItem =
  | ({ readonly kind: 'output' } & TerminalOutput)
  | ({ readonly kind: 'delta' } & MessageDelta)

export function openRoom(
  taskId: string,
  { dispatch, live, terminal, writing, needsRefresh, isCommand }: Collaborators,
): Room {
  let closed = false
  const leaving = new AbortController()
  let join: Join | null = null
  /** The last position seen; everything after it is asked for when the connection comes back. */
  let seen: Position | null = null
  let taskStream: Sequencer<TaskItem> = unsequenced()
  let terminalStream: Sequencer<TerminalItem> = unsequenced()
  let events: TaskEventMessage[] = []
  let items: TerminalItem[] = []
  let words: MessageWords[] = []
  /** Counts the readings of the history: only the latest is believed. */
  let reading = 0
  let gapWait = gapMs
  let gapTimer: ReturnType<typeof setTimeout> | undefined
  let diffTimer: ReturnType<typeof setTimeout> | undefined
  let joinWait = joinAgainMs
  let joinTimer: ReturnType<typeof setTimeout> | undefined

  dispatch(taskOpened(taskId))
  const frames = createFrames(flush)
  const begun = Date.now()
  const graceTimer = setTimeout(() => {
    if (reading === 0) void read(undefined)
  }, connectionGraceMs)
  const refreshTimer = setInterval(() => {
    if (needsRefresh()) void readTask(undefined)
  }, refreshEveryMs)

  const leave = live.enter({
    taskId,
    connected: (newJoin) => {
      join = newJoin
      joinWait = joinAgainMs
      void enter()
    },
    taskEvent: (event) => {
      saw(event.position)
      takeTask(receive(taskStream, [{ version: event.revision, event }]))
    },
    terminalOutput: (output) => {
      saw(output.position)
      takeTerminal(receive(terminalStream, [{ kind: 'output', ...output }]))
    },
    messageWords: (said) => {
      words.push(said)
      frames.ask()
    },
    messageDelta: (delta) => {
      saw(delta.position)
      takeTerminal(receive(terminalStream, [{ kind: 'delta', ...delta }]))
    },
    statusChanged: (change) => {
      // After the events before it: they are in the same frame.
      flush()
      dispatch(statusCame(change))
    },
    resync: () => void enterAnew(),
  })

  async function enter(): Promise<void> {
    clearTimeout(joinTimer)
    if (join === null || closed) return
    const missedFrom = reading === 0 ? null : seen
    const answer = await join(missedFrom)
    if (closed) return
    if (!answer.joined) {
      if (mayPass(answer)) enterLater()
      // Who may not join may not read either: reading says why.
      if (reading === 0) await read(undefined)
      return
    }
    joinWait = joinAgainMs
    // What was missed has been said already; without a history to add it to, that is read now.
    if (missedFrom !== null && !answer.resync && taskStream.at !== null) return
    seen = answer.position
    await read(answer.position ?? undefined)
  }

  /** Without a room nothing more would come, while the connection stands and says that all is well. */
  function enterLater(): void {
    clearTimeout(joinTimer)
    joinTimer = setTimeout(() => void enter(), joinWait)
    joinWait = Math.min(joinWait * 2, latestJoinAgainMs)
  }

  async function enterAnew(): Promise<void> {
    seen = null
    if (join === null) return read(undefined)
    const answer = await join(null)
    if (!closed) await read(answer.joined ? (answer.position ?? undefined) : undefined)
  }

  /** Reads the history, all of what comes meanwhile being held. */
  async function read(minPosition: Position | undefined): Promise<void> {
    reading += 1
    const mine = reading
    const before = { task: taskStream.at, terminal: terminalStream.at }
    taskStream = { at: null, held: taskStream.held }
    terminalStream = { at: null, held: terminalStream.held }
    const early = begun + loadDelayMs - Date.now()
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early))
    const current = () => !closed && mine === reading

    const task = await readTask(minPosition)
    if (!current()) return
    if (task === null) {
      // What is on the screen goes on from where it was.
      if (before.task !== null) takeTask(cover(taskStream, before.task))
      if (before.terminal !== null) takeTerminal(cover(terminalStream, before.terminal))
      return
    }
    const query = { taskId, minPosition }
    const fresh = { forceRefetch: true, subscribe: false } as const
    const [chat, logs, output] = await Promise.all([
      dispatch(taskApi.endpoints.chat.initiate(query, fresh)),
      dispatch(taskApi.endpoints.commands.initiate(query, fresh)),
      readTerminal(taskId, minPosition, leaving.signal),
    ])
    if (!current()) return
    if (chat.data !== undefined) {
      const more = chat.data.messages.length >= historyPage.messages
      dispatch(chatLoaded({ ...chat.data, more }))
    } else dispatch(chatFailed(faultOf(chat.error)))
    if (logs.data !== undefined) {
      dispatch(logsLoaded({ ...logs.data, more: logs.data.logs.length >= historyPage.calls }))
    } else dispatch(logsFailed(faultOf(logs.error)))
    if ('data' in output) {
      writing.reset(output.data.deltas)
      await terminal.reset(output.data.output, output.whole)
      if (!current()) return
    } else {
      terminal.fail(output.reason)
    }
    const covered = [task.version, chat.data?.version, logs.data?.version].filter(
      (version) => version !== undefined,
    )
    takeTask(cover(taskStream, Math.min(...covered)))
    // Output that could not be read has no beginning that more of it could follow: it is held until it can be.
    const printed = 'data' in output ? output.data.version : before.terminal
    if (printed !== null) takeTerminal(cover(terminalStream, printed))
    flush()
  }

  async function readTask(minPosition: Position | undefined) {
    const { data, error } = await dispatch(
      taskApi.endpoints.task.initiate({ taskId, minPosition }, { forceRefetch: true, subscribe: false }),
    )
    if (closed) return null
    if (data === undefined) {
      dispatch(taskFailed(faultOf(error)))
      return null
    }
    // An answer that has no such task in it selects none (section 2).
    if (data.task?.id !== taskId) {
      dispatch(taskFailed(notSelected))
      return null
    }
    dispatch(taskLoaded(data.task))
    return data.task
  }

  function saw(position: Position): void {
    if (seen === null || comparePositions(position, seen) > 0) seen = position
  }

  function takeTask({ sequencer, ready, gap }: Received<TaskItem>): void {
    taskStream = sequencer
    if (ready.length > 0) events = [...events, ...ready.map(({ event }) => event)]
    watch(gap)
    if (ready.length > 0) frames.ask()
  }

  function takeTerminal({ sequencer, ready, gap }: Received<TerminalItem>): void {
    terminalStream = sequencer
    for (const item of ready) items.push(item)
    watch(gap)
    if (ready.length > 0) frames.ask()
  }

  /** A gap that does not close by itself is closed by reading the history again. */
  function watch(gap: boolean): void {
    const open = gap || hasGap(taskStream) || hasGap(terminalStream)
    if (!open) {
      if (gapTimer !== undefined) dispatch(catchingUp(0))
      clearTimeout(gapTimer)
      gapTimer = undefined
      gapWait = gapMs
      return
    }
    if (gapTimer !== undefined) return
    dispatch(catchingUp(taskStream.held.size + terminalStream.held.size))
    gapTimer = setTimeout(() => {
      gapTimer = undefined
      void enterAnew()
    }, gapWait)
    gapWait = Math.min(gapWait * 2, longestGapMs)
  }

  function flush(): void {
    if (closed) return
    if (items.length > 0) {
      const taken = items
      items = []
      terminal.append(taken.filter((item) => item.kind === 'output'))
      writing.append(taken.filter((item) => item.kind === 'delta'))
    }
    if (words.length > 0) {
      writing.say(words)
      words = []
    }
    if (events.length > 0) {
      const taken = events
      events = []
      dispatch(eventsCame(taken))
      for (const why of failuresOf(taken, isCommand))
        dispatch(notified('error', texts.toasts.commandFailed, why))
      for (const event of taken) if (isTurning(event)) writing.settle(event.data.executionId)
      writing.drop(taken.flatMap((event) => (event.type === 'MessagePosted' ? [event.data.messageId] : [])))
      if (taken.some(({ type }) => type === 'WorkspaceChanged' || type === 'WorkspacePrepared')) freshenDiff()
    }
  }

  function freshenDiff(): void {
    if (diffTimer !== undefined) return
    diffTimer = setTimeout(() => {
      diffTimer = undefined
      dispatch(api.util.invalidateTags([{ type: 'Diff', id: taskId }]))
    }, diffEveryMs)
  }

  return {
    reload: () => void enterAnew(),
    close() {
      closed = true
      leaving.abort()
      leave()
      frames.stop()
      clearTimeout(graceTimer)
      clearTimeout(gapTimer)
      clearTimeout(diffTimer)
      clearTimeout(joinTimer)
      clearInterval(refreshTimer)
      dispatch(catchingUp(0))
      dispatch(taskClosed(taskId))
    },
  }
}

/** Whether nothing more is said of what was being said in the execution: it ended, or another attempt begins. */
function isTurning(
  event: TaskEventMessage,
): event is Extract<
  TaskEventMessage,
  { type: `Execution${'Started' | 'Completed' | 'Failed' | 'Cancelled'}` }
> {
  return (
    event.type === 'ExecutionStarted' ||
    event.type === 'ExecutionCompleted' ||
    event.type === 'ExecutionFailed' ||
    event.type === 'ExecutionCancelled'
  )
}

/** Why commands failed among events that came: their exit codes, or what kept them from ending by themselves. */
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

/** Whether a refusal is one of the moment: the server was slow, or an engine of it was away. */
function mayPass({ code }: Extract<JoinAnswer, { joined: false }>): boolean {
  return code !== 'not_found' && code !== 'invalid_input'
}

/** The answer had no such task in it. */
export const notSelected: ApiFault = {
  status: null,
  code: 'no_task',
  message: texts.notSelected,
  field: null,
}

/** The fault of a call; RTK's own errors come without a status. */
function faultOf(error: ApiFault | { readonly message?: string | undefined } | undefined): ApiFault {
  if (error !== undefined && 'status' in error) return error
  return { status: null, code: 'unknown', message: error?.message ?? '', field: null }
}
