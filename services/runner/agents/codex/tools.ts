/** The tools of `codex`: what kind each is, what it works on, and what came of it. */
import type { ToolKind } from '#domain/task/events.ts'
import type { ToolFinished, ToolStarted } from '../port.ts'
import { firstLine, shortened, shortJson } from '../shorten.ts'
import { finishedTool, outputLimit, targetOf, withinWorkspace, type Targets } from '../tools.ts'
import type { ToolItem } from './lines.ts'

const targets: Targets = {
  fields: ['command', 'path', 'query', 'tool', 'todo'],
  paths: new Set(['path']),
}

/** A tool begins. `toolId` is unique in the task; `workspace` is the folder to which its paths are shown relative. */
export function toolStarted(toolId: string, item: ToolItem, workspace: string): ToolStarted {
  const { kind, name, input } = describedBy(item, workspace)
  return {
    type: 'tool_started',
    toolId,
    parentToolId: null,
    kind,
    name,
    target: targetOf(input, targets, workspace),
    input: shortJson(input),
  }
}

interface Described {
  readonly kind: ToolKind
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

function describedBy(item: ToolItem, workspace: string): Described {
  switch (item.type) {
    case 'command_execution':
      return { kind: 'run', name: 'Shell', input: { command: commandOf(item.command) } }
    case 'file_change': {
      const paths = item.changes.map(({ path }) => withinWorkspace(path, workspace))
      const isNew = item.changes.every(({ kind }) => kind === 'add')
      return { kind: 'edit', name: isNew ? 'Write' : 'Edit', input: { path: paths.join(', ') } }
    }
    case 'mcp_tool_call':
      return {
        kind: 'other',
        name: item.tool,
        input: { tool: `${item.server}.${item.tool}`, arguments: item.arguments },
      }
    case 'web_search':
      return { kind: 'fetch', name: 'WebSearch', input: { query: item.query } }
    case 'todo_list':
      return {
        kind: 'todo',
        name: 'Todo',
        input: { todo: item.items.find(({ completed }) => !completed)?.text ?? '', items: item.items },
      }
  }
}

export function toolFinished(toolId: string, item: ToolItem): ToolFinished {
  switch (item.type) {
    case 'command_execution': {
      const exitCode = item.exit_code ?? null
      const output = item.aggregated_output.trimEnd()
      const summary = exitCode === null ? firstLine(output) : `exit code ${exitCode}`
      return finishedTool(toolId, exitCode === 0, {
        exitCode,
        summary,
        output: shortened(output, outputLimit),
      })
    }
    case 'file_change': {
      const ok = item.status === 'completed'
      return finishedTool(toolId, ok, { summary: ok ? '' : 'The change could not be applied.' })
    }
    case 'mcp_tool_call':
      return finishedTool(toolId, item.status === 'completed', {
        summary: firstLine(item.error?.message ?? ''),
      })
    case 'web_search':
    case 'todo_list':
      return finishedTool(toolId, true)
  }
}

/** What is run, without the shell that runs it: `/bin/bash -lc 'ls'` is `ls`. */
export function commandOf(command: string): string {
  const inner = /^\S*\/(?:ba|z)?sh -l?c ([\s\S]+)$/.exec(command)?.[1]
  return inner === undefined ? command : (unquoted(inner) ?? command)
}

/** The value of a single shell word; `undefined` if there are several words, or one that is more than quoted. */
function unquoted(word: string): string | undefined {
  const part = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\$`;&|<>()*?]+)/y
  let value = ''
  while (part.lastIndex < word.length) {
    const found = part.exec(word)
    if (found === null) return undefined
    const [, single, double, escaped, bare] = found
    value += single ?? double?.replaceAll(/\\(["\\$`\n])/g, '$1') ?? escaped ?? bare ?? ''
  }
  return value
}
