/** Reads what `cursor-agent` prints, line by line, into agent events. */
import { errorOf } from './fault.ts'
import { readCursorLine } from './lines.ts'
import type { AssistantLine, CursorLine, ResultLine, ToolCallLine } from './lines.ts'
import { toolAbandoned, toolCallOf, toolFinished, toolStarted } from './tools.ts'
import { createLineSplitter } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { AgentEvent, AgentParser, ToolStarted } from '../port.ts'

/** Long enough for a large file that is read or written in one line. */
const longestLine = 32 * 1024 * 1024
const keptOfUnknown = 1000

interface Writing {
  readonly kind: 'text' | 'thinking'
  readonly messageKey: string
  text: string
}

/** A parser for one process. Every text that began ends, and every tool that started finishes, however the stream breaks off. */
export function createCursorParser(options: { readonly longestLine?: number } = {}): AgentParser {
  const lines = createLineSplitter(options.longestLine ?? longestLine)
  const tools = new Map<string, ToolStarted>()
  let session = ''
  let model = ''
  let workspace = '/workspace'
  let writing: Writing | undefined
  let begun = 0
  /** What was said whole: the last text, and all of them as one. */
  let lastText = ''
  let allText = ''

  const close = (cut: boolean): AgentEvent[] => {
    if (writing === undefined) return []
    const { kind, messageKey, text } = writing
    writing = undefined
    if (kind === 'text') {
      lastText = text
      allText += text
    }
    return [{ type: kind, messageKey, text, cut }]
  }
  const abandonTools = (): AgentEvent[] => {
    const abandoned = [...tools.keys()].map(toolAbandoned)
    tools.clear()
    return abandoned
  }
  /** The texts have no names of their own. */
  const begin = (kind: Writing['kind']): Writing => {
    writing = { kind, messageKey: `${session}/${kind}-${begun}`, text: '' }
    begun += 1
    return writing
  }

  const more = (kind: Writing['kind'], text: string): AgentEvent[] => {
    if (text === '') return []
    const before = writing !== undefined && writing.kind !== kind ? close(false) : []
    const current = writing ?? begin(kind)
    current.text += text
    const type = kind === 'text' ? 'text_delta' : 'thinking_delta'
    return [...before, { type, messageKey: current.messageKey, text }]
  }

  /** A text as a whole. Most often it has been said in pieces before, and is then only the sign that it is whole. */
  const whole = (text: string): AgentEvent[] => {
    if (writing?.kind === 'text') {
      if (text.startsWith(writing.text)) writing.text = text
      return close(false)
    }
    const before = close(false)
    if (text === '' || text === lastText || text === allText) return before
    begin('text').text = text
    return [...before, ...close(false)]
  }

  const said = (line: AssistantLine): AgentEvent[] => {
    const text = line.message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    const isPiece = line.timestamp_ms !== undefined && line.model_call_id === undefined
    return isPiece ? more('text', text) : whole(text)
  }

  const called = (line: ToolCallLine): AgentEvent[] => {
    const call = toolCallOf(line.tool_call)
    // Such an id may be of two lines.
    const toolId = line.call_id.replaceAll(/\s+/g, '/')
    const known = tools.get(toolId)
    const started = known ?? toolStarted(toolId, call, workspace)
    const begins = known === undefined ? [...close(false), started] : []
    if (line.subtype === 'started') {
      tools.set(toolId, started)
      return begins
    }
    tools.delete(toolId)
    return [...begins, toolFinished(started, call)]
  }

  const ended = (line: ResultLine): AgentEvent[] => {
    const { usage, session_id: sessionId } = line
    return [
      ...close(line.is_error),
      ...abandonTools(),
      // It does not tell what it costs.
      ...(usage === undefined ? [] : [{ type: 'usage' as const, model, ...usage, costUsd: 0 }]),
      ...(line.is_error ? [errorOf(line.result)] : []),
      { type: 'end', ok: !line.is_error, sessionId, durationMs: line.duration_ms, turns: 1 },
    ]
  }

  const eventsOf = (line: CursorLine): AgentEvent[] => {
    switch (line.type) {
      case 'system':
        session = line.session_id
        model = line.model
        workspace = line.cwd ?? workspace
        return [{ type: 'session', sessionId: session, model }]
      case 'thinking':
        if (line.subtype === 'delta') return more('thinking', line.text)
        return writing?.kind === 'thinking' ? close(false) : []
      case 'assistant':
        return said(line)
      case 'tool_call':
        return called(line)
      case 'result':
        return ended(line)
    }
  }

  const read = (line: Line): AgentEvent[] => {
    if (line.text.trim() === '') return []
    const known = line.overlong ? 'unknown' : readCursorLine(line.text)
    if (known === 'silent') return []
    if (known === 'unknown') return [{ type: 'unknown', line: line.text.slice(0, keptOfUnknown) }]
    return eventsOf(known)
  }

  return {
    push: (chunk) => lines.push(chunk).flatMap(read),
    end: () => [...lines.end().flatMap(read), ...close(true), ...abandonTools()],
  }
}
