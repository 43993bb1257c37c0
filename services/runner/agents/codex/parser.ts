/** Reads what `codex exec --json` prints, line by line, into agent events. */
import { lineParser, openTools, type OpenTools } from '../parser.ts'
import type { AgentEvent, AgentParser } from '../port.ts'
import { errorOf, withoutAddress } from './fault.ts'
import { readCodexLine, type CodexLine, type ItemLine } from './lines.ts'
import { toolFinished, toolStarted } from './tools.ts'

/** Where a sandbox has the repository; the agent does not report where it runs. */
const workspace = '/workspace'

interface State {
  readonly tools: OpenTools
  readonly now: () => number
  readonly model: string
  session: string
  /** When the turn began, since the agent does not report how long it took. */
  begunAt: number
  /** Makes the ids of items unique in a task: they count from 0 in every process. */
  prefix: string
  /** The last error it reported, while its turn has not ended. */
  lastError: string | undefined
}

interface Options {
  /** The model that it was asked to use, since it does not report that; empty if it chose by itself. */
  readonly model?: string
  /** Milliseconds. */
  readonly now?: () => number
}

/** A parser for one process. Every tool that started finishes, however the stream breaks off. */
export function createCodexParser({ model = '', now = () => performance.now() }: Options = {}): AgentParser {
  const state: State = {
    tools: openTools(),
    now,
    model,
    session: '',
    begunAt: now(),
    prefix: '',
    lastError: undefined,
  }
  return lineParser({
    read: readCodexLine,
    eventsOf: (line) => eventsOf(state, line),
    end: () => [
      ...state.tools.abandon(),
      ...(state.lastError === undefined ? [] : [errorOf(state.lastError)]),
    ],
  })
}

function eventsOf(state: State, line: CodexLine): AgentEvent[] {
  switch (line.type) {
    case 'thread.started':
      state.session = line.thread_id
      return [{ type: 'session', sessionId: line.thread_id, model: state.model }]
    case 'turn.started':
      state.begunAt = state.now()
      state.prefix = `${state.session}/${Math.round(state.begunAt)}`
      return []
    case 'turn.completed':
      return [...state.tools.abandon(), ended(state, true)]
    case 'turn.failed':
      return [...state.tools.abandon(), errorOf(line.error.message), ended(state, false)]
    case 'error':
      return faulted(state, line.message)
    default:
      return itemEvents(state, line)
  }
}

function ended(state: State, ok: boolean): AgentEvent {
  state.lastError = undefined
  const durationMs = Math.max(0, Math.round(state.now() - state.begunAt))
  return { type: 'end', ok, sessionId: state.session, durationMs, turns: 1 }
}

/** Reports a retry. Any other error is kept, as it comes again at the end of the turn. */
function faulted(state: State, message: string): AgentEvent[] {
  const retry = /^Reconnecting\.\.\. (\d+)\/(\d+) \(([\s\S]*)\)$/.exec(message)
  if (retry === null) {
    state.lastError = message
    return []
  }
  const [, attempt, most, why = ''] = retry
  return [{ type: 'notice', text: `${withoutAddress(why)} Trying again (${attempt} of ${most}).` }]
}

function itemEvents(state: State, { type, item }: ItemLine): AgentEvent[] {
  const key = `${state.prefix}/${item.id}`
  const isWhole = type === 'item.completed'
  switch (item.type) {
    case 'agent_message':
      return isWhole ? [{ type: 'text', messageKey: key, text: item.text, cut: false }] : []
    case 'reasoning':
      return isWhole ? [{ type: 'thinking', messageKey: key, text: item.text, cut: false }] : []
    case 'error':
      return isWhole ? [{ type: 'notice', text: item.message }] : []
    default: {
      const known = state.tools.get(key)
      const begins = known === undefined ? [state.tools.start(toolStarted(key, item, workspace))] : []
      if (!isWhole) return begins
      state.tools.take(key)
      return [...begins, toolFinished(key, item)]
    }
  }
}
