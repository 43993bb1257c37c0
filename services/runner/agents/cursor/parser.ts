/** Converts the output of `cursor-agent`, line by line, to agent events. */
import { lineParser, openTools, type OpenTools } from '../parser.ts'
import type { AgentEvent, AgentParser } from '../port.ts'
import { errorOf } from './fault.ts'
import { readCursorLine } from './lines.ts'
import type { AssistantLine, CursorLine, ResultLine, ToolCallLine } from './lines.ts'
import { toolCallOf, toolFinished, toolStarted } from './tools.ts'

interface Writing {
  readonly kind: 'text' | 'thinking'
  readonly messageKey: string
  text: string
}

interface State {
  readonly tools: OpenTools
  session: string
  model: string
  workspace: string
  writing: Writing | undefined
  /** The number of texts and thoughts that have started. */
  begun: number
  /** The complete texts so far: the last one, and all of them joined. */
  lastText: string
  allText: string
}

/** A parser for one process. Every text and every tool that has started is also ended, even if the output stops early. */
export function createCursorParser(lineLimit?: number): AgentParser {
  const state: State = {
    tools: openTools(),
    session: '',
    model: '',
    workspace: '/workspace',
    writing: undefined,
    begun: 0,
    lastText: '',
    allText: '',
  }
  const reader = {
    read: readCursorLine,
    eventsOf: (line: CursorLine) => eventsOf(state, line),
    end: () => [...close(state, true), ...state.tools.abandon()],
  }
  return lineParser(reader, lineLimit)
}

function eventsOf(state: State, line: CursorLine): AgentEvent[] {
  switch (line.type) {
    case 'system':
      state.session = line.session_id
      state.model = line.model
      state.workspace = line.cwd ?? state.workspace
      return [{ type: 'session', sessionId: state.session, model: state.model }]
    case 'thinking':
      if (line.subtype === 'delta') return more(state, 'thinking', line.text)
      return state.writing?.kind === 'thinking' ? close(state, false) : []
    case 'assistant':
      return said(state, line)
    case 'tool_call':
      return called(state, line)
    case 'result':
      return ended(state, line)
  }
}

/** Ends the text that is being written. */
function close(state: State, cut: boolean): AgentEvent[] {
  if (state.writing === undefined) return []
  const { kind, messageKey, text } = state.writing
  state.writing = undefined
  if (kind === 'text') {
    state.lastText = text
    state.allText += text
  }
  return [{ type: kind, messageKey, text, cut }]
}

/** Starts a text under a key of our own, since the agent's texts have no ids. */
function begin(state: State, kind: Writing['kind']): Writing {
  const writing = { kind, messageKey: `${state.session}/${kind}-${state.begun}`, text: '' }
  state.writing = writing
  state.begun += 1
  return writing
}

function more(state: State, kind: Writing['kind'], text: string): AgentEvent[] {
  if (text === '') return []
  const before = state.writing !== undefined && state.writing.kind !== kind ? close(state, false) : []
  const current = state.writing ?? begin(state, kind)
  current.text += text
  const type = kind === 'text' ? 'text_delta' : 'thinking_delta'
  return [...before, { type, messageKey: current.messageKey, text }]
}

/** Reads a whole text. Usually all of it was streamed before, and the whole text only shows that it is complete. */
function whole(state: State, text: string): AgentEvent[] {
  if (state.writing?.kind === 'text') {
    if (text.startsWith(state.writing.text)) state.writing.text = text
    return close(state, false)
  }
  const before = close(state, false)
  if (text === '' || text === state.lastText || text === state.allText) return before
  begin(state, 'text').text = text
  return [...before, ...close(state, false)]
}

function said(state: State, line: AssistantLine): AgentEvent[] {
  const text = line.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  const isPiece = line.timestamp_ms !== undefined && line.model_call_id === undefined
  return isPiece ? more(state, 'text', text) : whole(state, text)
}

function called(state: State, line: ToolCallLine): AgentEvent[] {
  const call = toolCallOf(line.tool_call)
  // An id may contain a line break, so white space in the id is replaced.
  const toolId = line.call_id.replaceAll(/\s+/g, '/')
  const known = state.tools.get(toolId)
  const started = known ?? toolStarted(toolId, call, state.workspace)
  const begins = known === undefined ? [...close(state, false), started] : []
  if (line.subtype === 'started') {
    state.tools.start(started)
    return begins
  }
  state.tools.take(toolId)
  return [...begins, toolFinished(started, call)]
}

function ended(state: State, line: ResultLine): AgentEvent[] {
  const { usage, session_id: sessionId } = line
  return [
    ...close(state, line.is_error),
    ...state.tools.abandon(),
    // The agent does not report its cost.
    ...(usage === undefined ? [] : [{ type: 'usage' as const, model: state.model, ...usage, costUsd: 0 }]),
    ...(line.is_error ? [errorOf(line.result)] : []),
    { type: 'end', ok: !line.is_error, sessionId, durationMs: line.duration_ms, turns: 1 },
  ]
}
