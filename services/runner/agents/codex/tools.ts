/** Describes the tool calls of `codex`: their kind, target and result. */
import type { ToolKind } from '#domain/task/events.ts'
import type { AgentEvent, ToolFinished, ToolStarted } from '../port.ts'
import { firstLine, shortened, shortJson } from '../shorten.ts'
import { finishedTool, outputLimit, targetOf, withinWorkspace, type Targets } from '../tools.ts'
import type { Change, ToolItem } from './lines.ts'

const targets: Targets = {
  fields: ['command', 'path', 'tool', 'todo'],
  paths: new Set(['path']),
}

/** The event for a tool that starts. `toolId` must be unique in the task. Paths below the folder `workspace` are shown relative to it. */
export const toolStarted = (toolId: string, item: ToolItem, workspace: string): ToolStarted =>
  started(toolId, describedBy(item, workspace), workspace)

interface Described {
  readonly kind: ToolKind
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

function started(toolId: string, { kind, name, input }: Described, workspace: string): ToolStarted {
  const target = targetOf(input, targets, workspace)
  return { type: 'tool_started', toolId, parentToolId: null, kind, name, target, input: shortJson(input) }
}

function describedBy(item: ToolItem, workspace: string): Described {
  switch (item.type) {
    case 'commandExecution':
      return { kind: 'run', name: 'Shell', input: { command: commandOf(item.command) } }
    case 'fileChange': {
      const isNew = item.changes.every(({ kind }) => kind.type === 'add')
      const path = pathsOf(item.changes, workspace)
      return { kind: 'edit', name: isNew ? 'Write' : 'Edit', input: { path } }
    }
    case 'mcpToolCall': {
      const tool = `${item.server}.${item.tool}`
      return { kind: 'other', name: item.tool, input: { tool, arguments: item.arguments } }
    }
    case 'imageView':
      return { kind: 'read', name: 'View', input: { path: item.path } }
  }
}

export const pathsOf = (changes: readonly Change[], workspace: string): string =>
  changes.map(({ path }) => withinWorkspace(path, workspace)).join(', ')

/** The events for codex's to-do list. codex reports the whole list each time. */
export function todoEvents(
  toolId: string,
  plan: readonly { readonly step: string; readonly status: string }[],
): readonly AgentEvent[] {
  const items = plan.map(({ step, status }) => ({ text: step, status }))
  const todo = items.find(({ status }) => status !== 'completed')?.text ?? ''
  return [
    started(toolId, { kind: 'todo', name: 'Todo', input: { todo, items } }, ''),
    finishedTool(toolId, true),
  ]
}

export function toolFinished(toolId: string, item: ToolItem, workspace: string): ToolFinished {
  switch (item.type) {
    case 'commandExecution': {
      const exitCode = item.exitCode ?? null
      const output = (item.aggregatedOutput ?? '').trimEnd()
      const declined = item.status === 'declined' ? 'It was not allowed.' : firstLine(output)
      const summary = exitCode === null ? declined : `exit code ${exitCode}`
      return finishedTool(toolId, exitCode === 0, {
        exitCode,
        summary,
        output: shortened(output, outputLimit),
      })
    }
    case 'fileChange': {
      if (item.status === 'declined') return finishedTool(toolId, false, { summary: 'It was not allowed.' })
      if (item.status !== 'completed')
        return finishedTool(toolId, false, { summary: 'The change could not be applied.' })
      const lines = item.changes.flatMap(diffLines)
      const additions = lines.filter((line) => line.startsWith('+')).length
      const deletions = lines.filter((line) => line.startsWith('-')).length
      return finishedTool(toolId, true, {
        summary: `+${additions} −${deletions}`,
        output: shortened(diffOf(item.changes, workspace), outputLimit),
        additions,
        deletions,
      })
    }
    case 'mcpToolCall': {
      const output = item.error?.message ?? textIn(item.result?.content ?? [])
      return finishedTool(toolId, item.status === 'completed', {
        summary: firstLine(output),
        output: shortened(output, outputLimit),
      })
    }
    case 'imageView':
      return finishedTool(toolId, true)
  }
}

/** The changes as one diff, file by file. */
export function diffOf(changes: readonly Change[], workspace: string): string {
  return changes
    .flatMap((change) => [
      ...(changes.length > 1 ? [withinWorkspace(change.path, workspace)] : []),
      ...diffLines(change),
    ])
    .join('\n')
}

/** The hunks of a change. For a file that is added or deleted, codex reports the text instead of a diff. */
function diffLines({ kind, diff }: Change): readonly string[] {
  const lines = diff.split('\n')
  const whole = lines.at(-1) === '' ? lines.slice(0, -1) : lines
  if (kind.type === 'update') return whole
  const sign = kind.type === 'add' ? '+' : '-'
  const range = kind.type === 'add' ? `-0,0 +1,${whole.length}` : `-1,${whole.length} +0,0`
  return [`@@ ${range} @@`, ...whole.map((line) => `${sign}${line}`)]
}

const textIn = (content: readonly unknown[]): string =>
  content
    .map((block) => {
      const isText = typeof block === 'object' && block !== null && 'text' in block
      return isText && typeof block.text === 'string' ? block.text : '[image]'
    })
    .join('\n')

/** The command that is run, without the shell that runs it: `/bin/bash -lc 'ls'` becomes `ls`. */
export function commandOf(command: string): string {
  const inner = /^\S*\/(?:ba|z)?sh -l?c ([\s\S]+)$/.exec(command)?.[1]
  return inner === undefined ? command : (unquoted(inner) ?? command)
}

/** The value of a single shell word; `undefined` if there are several words, or if the word contains more than text and quotes. */
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
