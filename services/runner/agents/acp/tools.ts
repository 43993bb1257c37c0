/** Describes the tool calls of agents that speak ACP: their kind, target and result. */
import { z } from 'zod'
import type { ToolKind } from '#domain/task/events.ts'
import { marked } from '../questions.ts'
import type { ToolFinished, ToolStarted } from '../port.ts'
import { ownServerName, ownTools } from '../ownTools.ts'
import { firstLine, shortened, shortJson } from '../shorten.ts'
import { finishedTool, outputLimit, targetOf, withinWorkspace, type Targets } from '../tools.ts'
import type { Tool, ToolContent } from './lines.ts'

const kinds: Readonly<Record<string, ToolKind>> = {
  read: 'read',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  search: 'search',
  execute: 'run',
  fetch: 'fetch',
}
const names: Readonly<Record<ToolKind, string>> = {
  read: 'Read',
  edit: 'Edit',
  run: 'Shell',
  search: 'Search',
  fetch: 'Fetch',
  todo: 'Todo',
  other: 'Tool',
}
const paths = ['filePath', 'file_path', 'filepath', 'path', 'absolute_path']
const targets: Targets = {
  fields: ['command', ...paths, 'pattern', 'query', 'url', 'description'],
  paths: new Set(paths),
}

/** Adds `now`, a later description of a tool call, to the description `before`. The values of `now` win, except for the title. */
export function mergedTool(before: Tool, { title: _renamed, ...now }: Tool): Tool {
  const said = Object.entries(now).filter(([, value]) => value !== undefined && value !== null)
  return { ...before, ...Object.fromEntries(said) }
}

/**
 * Whether this is a tool of our own MCP server, which reports its calls itself. The kind is checked too, since a command could have the same title.
 */
export const isOwn = ({ title, kind }: Tool): boolean =>
  (kind ?? 'other') === 'other' &&
  ownTools.some(
    (name) => title === `${ownServerName}_${name}` || title === `${name} (${ownServerName} MCP Server)`,
  )

export function kindOf({ kind, rawInput }: Tool): ToolKind {
  return Array.isArray(rawInput?.['todos']) ? 'todo' : (kinds[kind ?? ''] ?? 'other')
}

export function targetOfTool(tool: Tool, workspace: string): string {
  const said = targetOf(tool.rawInput ?? {}, targets, workspace)
  return said || withinWorkspace(tool.locations?.[0]?.path ?? '', workspace)
}

/** The event for a tool that starts. `toolId` must be unique in the task. */
export function toolStarted(toolId: string, tool: Tool, workspace: string): ToolStarted {
  const kind = kindOf(tool)
  const title = tool.title ?? ''
  const isName = kind !== 'todo' && /^[\w-]{1,40}$/.test(title)
  return {
    type: 'tool_started',
    toolId,
    parentToolId: null,
    kind,
    name: isName ? `${title.slice(0, 1).toUpperCase()}${title.slice(1)}` : names[kind],
    target: targetOfTool(tool, workspace) || (isName ? '' : firstLine(title)),
    input: shortJson(tool.rawInput ?? {}),
  }
}

const Exit = z.object({
  exitCode: z.int().nullish(),
  metadata: z.object({ exit: z.int().nullish() }).nullish().catch(null),
})

export function toolFinished(toolId: string, tool: Tool): ToolFinished {
  const { data } = Exit.safeParse(tool.rawOutput)
  const exitCode = data?.exitCode ?? data?.metadata?.exit ?? null
  const ok = tool.status === 'completed' && (exitCode ?? 0) === 0
  const output = (tool.content ?? []).flatMap(shownContent).join('\n').trimEnd()
  const summary = exitCode === null ? (ok ? '' : firstLine(output)) : `exit code ${exitCode}`
  return finishedTool(toolId, ok, { exitCode, summary, output: shortened(output, outputLimit) })
}

export function shownContent(content: ToolContent): readonly string[] {
  if (content.type === 'diff')
    return [...marked('-', content.oldText ?? ''), ...marked('+', content.newText.replace(/\n$/, ''))]
  return content.type === 'content' && content.content.type === 'text' ? [content.content.text] : []
}
