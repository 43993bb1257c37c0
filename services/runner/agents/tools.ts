/** What the agents' tools have in common: how their targets are shown, and how much of their output is kept. */
import type { ToolFinished } from './port.ts'
import { shortened } from './shorten.ts'

/** Characters that are kept of what a tool printed. */
export const outputLimit = 64 * 1024
const targetLimit = 2000

export interface Targets {
  /** The inputs that say what a tool works on, the most telling first. */
  readonly fields: readonly string[]
  /** Those of them that are paths. */
  readonly paths: ReadonlySet<string>
}

/** What a tool works on; a path within the `workspace` is shown relative to it. */
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

/** A path within the workspace, relative to it; any other as it is. */
export function withinWorkspace(path: string, workspace: string): string {
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
}

/** The end of a tool; what `rest` does not name is unknown or empty. */
export function finishedTool(
  toolId: string,
  ok: boolean,
  rest: Partial<Omit<ToolFinished, 'type' | 'toolId' | 'ok'>> = {},
): ToolFinished {
  const empty = { exitCode: null, summary: '', output: '', additions: null, deletions: null }
  return { type: 'tool_finished', toolId, ok, ...empty, ...rest }
}

/** A tool that was still running when its turn or its agent ended, or that was interrupted. */
export function unfinishedTool(toolId: string, summary = 'It did not finish.'): ToolFinished {
  return finishedTool(toolId, false, { summary })
}
