/** The common part of the parsers of all agents: converts lines of JSON to events, and ends whatever was started. */
import { createLineSplitter, type Line } from '../lines.ts'
import type { AgentDialogue, AgentEvent, AgentParser, ToolStarted } from './port.ts'
import { unfinishedTool } from './tools.ts'

/** The longest line, in characters: long enough for a large file or image that is read or written in one line. */
export const maxLineLength = 32 * 1024 * 1024
const keptOfUnknown = 1000
/** The most characters that an agent may write in a turn; no model writes as much. */
export const mostWritten = 4_000_000
/** The most tools that an agent may use in a turn. */
export const mostTools = 10_000
/** The most requests that may wait for a person at once. */
export const mostAsked = 100

interface LineReader<Known> {
  /** Reads a line. Returns its content, `silent` for a line to skip, or `unknown` for a line that cannot be read. */
  read(line: string): Known | 'silent' | 'unknown'
  eventsOf(line: Known): readonly AgentEvent[]
  /** Called at the end of the output: ends the texts and tools that are still open. */
  end(): readonly AgentEvent[]
}

export function lineParser<Known extends object>(
  { read, eventsOf, end }: LineReader<Known>,
  lineLimit = maxLineLength,
): AgentParser {
  const lines = createLineSplitter(lineLimit)
  const eventsIn = ({ text, overlong }: Line): readonly AgentEvent[] => {
    if (text.trim() === '') return []
    const known = overlong ? 'unknown' : read(text)
    if (known === 'silent') return []
    if (known === 'unknown') return [{ type: 'unknown', line: text.slice(0, keptOfUnknown) }]
    return eventsOf(known)
  }
  return {
    push: (chunk) => lines.push(chunk).flatMap(eventsIn),
    end: () => [...lines.end().flatMap(eventsIn), ...end()],
  }
}

/** The dialogue with a process that gets one message and asks no questions. */
export function oneTurnDialogue(parser: AgentParser): AgentDialogue {
  return { ...parser, message: ({ text }) => text, interrupt: () => null, answer: () => '' }
}

export type OpenTools = ReturnType<typeof openTools>

/** Keeps the tools that were started and have not finished. */
export function openTools() {
  const tools = new Map<string, ToolStarted>()
  return {
    get: (toolId: string): ToolStarted | undefined => tools.get(toolId),
    start(tool: ToolStarted): ToolStarted {
      tools.set(tool.toolId, tool)
      return tool
    },
    /** Removes and returns a tool that has finished; `undefined` when it was never started. */
    take(toolId: string): ToolStarted | undefined {
      const tool = tools.get(toolId)
      tools.delete(toolId)
      return tool
    },
    /** Called when the turn or the agent has ended: ends all tools that are left. */
    abandon(): AgentEvent[] {
      const abandoned = [...tools.keys()].map((toolId) => unfinishedTool(toolId))
      tools.clear()
      return abandoned
    },
  }
}
