/** A task at a moment of its history, folded by the reducers of the live page. Pure. */
import type { TerminalOutput } from '#domain/api/chat.schema.ts'
import type { TaskEventMessage } from '#domain/api/socket.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { DeltaItem, HistoryItem } from '#domain/history/item.ts'
import { chatView, messageDocumentId } from '#domain/views/chat.ts'
import { taskOf, tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { project } from '#domain/views/view.ts'
import {
  endOfWriting,
  withoutWhole,
  withSettled,
  withPieces,
  type WrittenMessage,
} from '../chat/streamingText.ts'
import {
  chatLoaded,
  eventsCame,
  logsLoaded,
  nothingOpen,
  questionsLoaded,
  openTaskReducer,
  statusCame,
  taskLoaded,
  taskOpened,
  type OpenTask,
} from '../taskSlice.ts'

/** The parts of a task that no event contains. */
export type TaskBase = Pick<Task, 'id' | 'project' | 'images'>

export interface ReplayState {
  readonly openTask: OpenTask
  /** The whole document, with the status that a live page gets from the server. */
  readonly document: TaskDocument | undefined
  readonly writing: readonly WrittenMessage[]
}

export const nothingYet: ReplayState = { openTask: nothingOpen, document: undefined, writing: [] }

/** The state after further items. `print` is called with each output among them, in order. */
export function foldItems(
  state: ReplayState,
  items: readonly HistoryItem[],
  base: TaskBase,
  print: (output: TerminalOutput) => void,
): ReplayState {
  let { writing } = state
  const events: TaskEventMessage[] = []
  let deltas: DeltaItem['delta'][] = []
  /** The ids of messages that the chat has as a whole; pieces of them that come later are ignored. */
  const whole = new Set<string>()
  const isWhole = ({ messageId }: DeltaItem['delta']) => {
    const id = messageDocumentId(base.id, messageId)
    return whole.has(id) || state.openTask.chat.documents[id] !== undefined
  }
  const write = () => {
    const pieces = deltas.filter((delta) => !isWhole(delta))
    if (pieces.length > 0) writing = withPieces(writing, pieces)
    deltas = []
  }
  for (const item of items) {
    switch (item.kind) {
      case 'output':
        print(item.output)
        break
      case 'delta':
        deltas.push(item.delta)
        break
      case 'event':
        events.push(item.event)
        write()
        writing = writingAfter(writing, item.event)
        for (const id of chatView.touches(item.event)) whole.add(id)
    }
  }
  write()
  return { ...withEvents(state, events, base), writing }
}

function writingAfter(
  writing: readonly WrittenMessage[],
  event: TaskEventMessage,
): readonly WrittenMessage[] {
  const executionId = endOfWriting(event)
  if (executionId !== null) return withSettled(writing, executionId)
  return event.type === 'MessagePosted' ? withoutWhole(writing, [event.data.messageId]) : writing
}

/** Adds events to the state. Status and progress come from the whole document here; on a live page, the server sends them with each event. */
function withEvents(
  state: ReplayState,
  events: readonly TaskEventMessage[],
  base: TaskBase,
): Pick<ReplayState, 'openTask' | 'document'> {
  let { openTask, document } = state
  let rest = events
  const [first] = events
  if (first?.type === 'TaskCreated' && document === undefined) {
    document = project(tasksView, undefined, first, base.id)
    if (document) openTask = opened(document, base)
    rest = events.slice(1)
  }
  const last = rest.at(-1)
  if (last === undefined) return { openTask, document }
  for (const event of rest) document = project(tasksView, document, event, base.id)
  openTask = openTaskReducer(openTask, eventsCame(rest))
  if (document !== undefined) {
    const { status, progress } = document
    const place = { position: last.position, version: last.revision, commandId: last.meta.commandId }
    openTask = openTaskReducer(openTask, statusCame({ taskId: base.id, status, progress, ...place }))
  }
  return { openTask, document }
}

/** The state of a page that opened the task right after its creation. */
function opened(document: TaskDocument, { id, project, images }: TaskBase): OpenTask {
  const task = { ...taskOf(document, undefined, () => ''), project, images }
  const version = document.version
  return [
    taskOpened(id),
    taskLoaded(task),
    chatLoaded({ messages: [], version }),
    logsLoaded({ logs: [], version }),
    questionsLoaded({ taskId: id, questions: [], version }),
  ].reduce(openTaskReducer, nothingOpen)
}
