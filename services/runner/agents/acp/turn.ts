/** Converts the reports that an agent sends by ACP during one turn into agent events. */
import type { AgentEvent } from '../port.ts'
import { mostTools, openTools } from '../parser.ts'
import type { Tool, Update } from './lines.ts'
import { isOwn, mergedTool, toolFinished, toolStarted } from './tools.ts'

type Writing = {
  readonly kind: 'text' | 'thinking'
  readonly messageKey: string
  readonly told: string | null
  text: string
}

export interface TurnReader {
  read(update: Update): readonly AgentEvent[]
  /** Called when the agent asks for permission to use a tool, which it may not have reported yet. */
  wants(tool: Tool): readonly AgentEvent[]
  /** The number of characters of text and thinking so far. */
  written(): number
  /**
   * Called when the turn is over: ends the texts and tools that are still open. `isWhole` is false after an error: the last text is then marked as
   * cut.
   */
  end(isWhole: boolean): readonly AgentEvent[]
}

/** Starts to read a turn. `turnId` becomes part of every id in the events, so that no id occurs twice in a task. */
export function turnReader(turnId: string, workspace: string): TurnReader {
  const known = new Map<string, Tool>()
  const open = openTools()
  const finished = new Set<string>()
  let writing: Writing | undefined
  let count = 0
  let written = 0
  const keyOf = (id: string) => `${turnId}/${id}`

  function close(cut = false): AgentEvent[] {
    if (writing === undefined) return []
    const { kind: type, messageKey, text } = writing
    writing = undefined
    return [{ type, messageKey, text, cut }]
  }
  function write(kind: Writing['kind'], told: string | null, text: string): AgentEvent[] {
    if (text === '') return []
    const isSame = writing?.kind === kind && writing.told === told
    const closed = isSame ? [] : close()
    if (!isSame || writing === undefined) {
      count += 1
      writing = { kind, messageKey: keyOf(`${count}`), told, text: '' }
    }
    writing.text += text
    written += text.length
    return [...closed, { type: `${kind}_delta`, messageKey: writing.messageKey, text }]
  }
  const start = (toolId: string, tool: Tool): AgentEvent[] =>
    open.get(toolId) === undefined ? [...close(), open.start(toolStarted(toolId, tool, workspace))] : []
  function use(told: Tool, isWanted = false): AgentEvent[] {
    const toolId = keyOf(told.toolCallId)
    const before = known.get(toolId)
    if (finished.has(toolId) || (before === undefined && finished.size + known.size >= mostTools)) return []
    const tool = before === undefined ? told : mergedTool(before, told)
    known.set(toolId, tool)
    if (isOwn(tool)) return []
    const isOver = tool.status === 'completed' || tool.status === 'failed'
    // A pending tool is not reported yet, since its target may still be unknown.
    const begins = isWanted || tool.status !== 'pending' ? start(toolId, tool) : []
    if (!isOver) return begins
    open.take(toolId)
    known.delete(toolId)
    finished.add(toolId)
    return [...begins, toolFinished(toolId, tool)]
  }
  function plan(entries: readonly { readonly content: string; readonly status: string }[]): AgentEvent[] {
    count += 1
    const kept = { status: 'completed', rawInput: { todos: entries }, rawOutput: null } as const
    return use({ toolCallId: `plan-${count}`, title: 'Plan', ...kept })
  }
  return {
    read(update) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
        case 'agent_thought_chunk': {
          const { content, messageId = null } = update
          const kind = update.sessionUpdate === 'agent_message_chunk' ? 'text' : 'thinking'
          return content.type === 'text' ? write(kind, messageId, content.text) : []
        }
        case 'tool_call':
        case 'tool_call_update':
          return use(update)
        case 'plan':
          return plan(update.entries)
        case 'usage_update':
          return [{ type: 'context', context: { usedTokens: update.used, windowTokens: update.size } }]
        case 'other':
          return []
      }
    },
    wants(tool) {
      const before = known.get(keyOf(tool.toolCallId))
      // The agent's report of a tool describes the tool better than its request for permission does, so a report that has already come is used.
      return before === undefined ? use(tool, true) : start(keyOf(tool.toolCallId), before)
    },
    written: () => written,
    end: (isWhole) => [...close(!isWhole), ...open.abandon()],
  }
}
