/** Decides which tools of a server an agent gets: none that is switched off, and every other tool only as the server first described it. */
import { createHash } from 'node:crypto'
import { mcpLimits } from '#domain/api/mcpServers.ts'
import type { Tool } from './messages.ts'

export interface ShownTools {
  /** Called when a page of the server's list is requested; the first page has no cursor. */
  asked(cursor: string | null | undefined): void
  /** Takes the tools on a page of the server's list, and returns those that the agent gets. */
  shown(tools: readonly Tool[], isLast: boolean): readonly Tool[]
  /** Why a tool may not be called; `undefined` when it may. */
  refusal(name: string): string | undefined
  /** The tools that the agent got; `undefined` until it has the whole list. */
  listed(): readonly string[] | undefined
}

/**
 * Calls `onChange` with a sentence about the tools that are new or whose description has changed, and with their number. The agent does not get
 * these tools until it is started again.
 */
export function shownTools(
  off: readonly string[],
  onChange: (sentence: string, count: number) => void,
): ShownTools {
  const known = new Map<string, string>()
  const changed = new Set<string>()
  /** Whether the server had more new tools than are remembered. A server can name new tools without end. */
  let isFlooded = false
  let isListed = false
  return {
    asked(cursor) {
      // If the agent did not read the list to its end, it may read it again from the beginning.
      if ((cursor ?? null) === null && !isListed) known.clear()
    },
    shown(tools, isLast) {
      const allowed = tools.filter((tool) => {
        const described = createHash('sha256').update(JSON.stringify(tool)).digest('base64')
        if (off.includes(tool.name) || tool.name.length > mcpLimits.toolNameLength) return false
        if (known.get(tool.name) === described) return true
        if (!isListed && !known.has(tool.name) && known.size < mcpLimits.tools) {
          known.set(tool.name, described)
          return true
        }
        if (known.has(tool.name) || changed.size < mcpLimits.tools) changed.add(tool.name)
        else isFlooded = true
        return false
      })
      if (isLast) isListed = true
      if (changed.size > 0) onChange(sentenceFor([...changed]), changed.size)
      return allowed
    },
    refusal(name) {
      if (off.includes(name)) return `The tool ${name} is switched off in the settings.`
      if (changed.has(name) || (isFlooded && !known.has(name)))
        return `The tool ${name} was changed by its server while it was used.`
      return undefined
    },
    listed: () => (isListed ? [...known.keys()] : undefined),
  }
}

function sentenceFor(names: readonly string[]): string {
  const some = names.slice(0, 5).map((name) => name.slice(0, 60))
  const more = names.length > some.length ? ` and ${names.length - some.length} more` : ''
  return `It changed or added tools, which are left out until the agent is started again: ${some.join(', ')}${more}.`
}
