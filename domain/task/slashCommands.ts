/**
 * What a message that begins with a slash is to an agent. Those that do something here are offered while a message is written. What belongs to
 * the agent's own terminal is refused with what to do instead; anything else is words, and a path can begin so as well.
 */
import type { AgentName } from './events.ts'

export interface SlashCommand {
  readonly name: string
  /** What may follow it, in a word or two; `null`: nothing. */
  readonly argument: string | null
  readonly help: string
  /** There is something that it is about only once a turn has run. */
  readonly later: boolean
}

/** In the order in which they are offered. */
export const slashCommands: Readonly<Record<AgentName, readonly SlashCommand[]>> = {
  claude: [
    { name: 'compact', argument: 'what to keep', help: 'Sum up the conversation to make room', later: true },
    { name: 'context', argument: null, help: 'Show what fills the conversation', later: true },
    { name: 'cost', argument: null, help: 'Show what this conversation has used', later: true },
    { name: 'code-review', argument: 'how thorough', help: 'Look for faults in the changes', later: true },
    { name: 'simplify', argument: null, help: 'Make the changes simpler and clearer', later: true },
    { name: 'init', argument: null, help: 'Write a CLAUDE.md for this repository', later: false },
  ],
  cursor: [],
}
