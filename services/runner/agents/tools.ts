/** The common part of the tools of all agents: the display of their targets, and the limit on their output. */
import type { ToolFinished } from './port.ts'
import { shortened } from './shorten.ts'

/** The number of characters that are kept of a tool's output. */
export const outputLimit = 64 * 1024
const targetLimit = 2000

export interface Targets {
  /** The names of the inputs that show what a tool works on, the most telling one first. */
  readonly fields: readonly string[]
  /** The names in `fields` whose inputs are paths. */
  readonly paths: ReadonlySet<string>
}

/** The target of a tool; a path in the `workspace` is shown relative to it. */
export function targetOf(
  input: Readonly<Record<string, unknown>>,
  { fields, paths }: Targets,
  workspace: string,
): string {
  for (const field of fields) {
    const value = input[field]
    if (typeof value !== 'string' || value === '') continue
    return shortened(paths.has(field) ? withinWorkspace(value, workspace) : value, targetLimit)
  }
  return ''
}

/** Makes a path in `workspace` relative to the workspace. Any other path stays as it is. */
export function withinWorkspace(path: string, workspace: string): string {
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
}

/** The event for a finished tool; values that `rest` does not set are unknown or empty. */
export function finishedTool(
  toolId: string,
  ok: boolean,
  rest: Partial<Omit<ToolFinished, 'type' | 'toolId' | 'ok'>> = {},
): ToolFinished {
  const empty = { exitCode: null, summary: '', output: '', additions: null, deletions: null }
  return { type: 'tool_finished', toolId, ok, ...empty, ...rest }
}

/** The event for a tool that was interrupted, or was still running when its turn or its agent ended. */
export function unfinishedTool(toolId: string, summary = 'It did not finish.'): ToolFinished {
  return finishedTool(toolId, false, { summary })
}
