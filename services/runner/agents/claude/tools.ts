/** Describes the tool calls of `claude`: their kind, target and result. */
import { z } from 'zod'
import type { ToolKind } from '#domain/task/events.ts'
import type { ToolResult } from './lines.ts'
import type { ToolFinished, ToolStarted } from '../port.ts'
import { firstLine, shortened, shortJson } from '../shorten.ts'
import { outputLimit, targetOf, unfinishedTool, type Targets } from '../tools.ts'

const kinds: Readonly<Record<string, ToolKind>> = {
  Read: 'read',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  Write: 'edit',
  Bash: 'run',
  Glob: 'search',
  Grep: 'search',
  LS: 'search',
  ToolSearch: 'search',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
  TaskCreate: 'todo',
  TaskUpdate: 'todo',
  TaskGet: 'todo',
  TaskList: 'todo',
  TodoWrite: 'todo',
}

const targets: Targets = {
  fields: [
    'file_path',
    'notebook_path',
    'command',
    'pattern',
    'url',
    'query',
    'path',
    'subject',
    'description',
    'skill',
  ],
  paths: new Set(['file_path', 'notebook_path', 'path']),
}

interface ToolUse {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** The event for a tool that starts. Paths below the folder `workspace` are shown relative to it. */
export function toolStarted(tool: ToolUse, parentToolId: string | null, workspace: string): ToolStarted {
  return {
    type: 'tool_started',
    toolId: tool.id,
    parentToolId,
    kind: kinds[tool.name] ?? 'other',
    name: tool.name,
    target: targetOf(tool.input, targets, workspace),
    input: shortJson(tool.input),
  }
}

const Hunk = z.object({
  oldStart: z.number(),
  oldLines: z.number(),
  newStart: z.number(),
  newLines: z.number(),
  lines: z.array(z.string()),
})
type Hunk = z.infer<typeof Hunk>
/** The fields that are read from a line's `tool_use_result`. Each tool sets only some of them, and errors set none. */
const Details = z.object({
  /** The id of a sub-agent. It is set only when the tool was a sub-agent, whose report is in `content`. */
  agentId: z.string().optional(),
  type: z.string().optional(),
  content: z.unknown().optional(),
  structuredPatch: z.array(Hunk).optional(),
})

/** The event for a tool that ended. `details` is the line's `tool_use_result`, if the line holds only this result. */
export function toolFinished(started: ToolStarted, result: ToolResult, details: unknown): ToolFinished {
  const ok = result.is_error !== true
  if (!ok && details === 'User rejected tool use') return unfinishedTool(started.toolId, 'Interrupted.')
  const read = Details.safeParse(details)
  const known = ok && read.success ? read.data : {}
  const said = withoutMarks(reportOf(known) ?? textOf(result.content ?? []))
  const hunks = started.kind === 'edit' ? hunksOf(known) : undefined
  const exitCode = started.kind === 'run' ? exitCodeOf(ok, said) : null
  const images = imagesIn(result.content)
  const counts = { additions: linesWith('+', hunks), deletions: linesWith('-', hunks) }
  return {
    type: 'tool_finished',
    toolId: started.toolId,
    ok,
    exitCode,
    summary: summaryOf(started.kind, ok, said, exitCode, counts),
    output: shortened(hunks === undefined ? said : hunks.map(asDiff).join('\n'), outputLimit),
    ...(images.length > 0 && { images }),
    ...counts,
  }
}

function textOf(content: NonNullable<ToolResult['content']>): string {
  if (typeof content === 'string') return content
  // A block that is not text is shown as its kind, or as the name of the tool that it refers to.
  return content
    .map((block) => {
      if ('text' in block) return block.text
      return ('tool_name' in block ? block.tool_name : undefined) ?? `[${block.type}]`
    })
    .join('\n')
}

function imagesIn(content: ToolResult['content']): readonly string[] {
  return typeof content === 'object'
    ? content.flatMap((block) => ('source' in block ? [block.source.data] : []))
    : []
}

const Report = z.array(z.object({ type: z.literal('text'), text: z.string() }))

/** The report that a sub-agent wrote; `undefined` for the details of any other tool. */
function reportOf({ agentId, content }: z.infer<typeof Details>): string | undefined {
  const report = Report.safeParse(agentId === undefined ? undefined : content)
  return report.success ? report.data.map(({ text }) => text).join('\n') : undefined
}

function withoutMarks(output: string): string {
  return withoutHandBack(output)
    .replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
    .replaceAll(/<tools-used-before-summary>[\s\S]*?<\/tools-used-before-summary>\s*/g, '')
    .replace(/^<tool_use_error>([\s\S]*)<\/tool_use_error>$/, '$1')
    .replace(/^\(Bash completed with no output\)$/, '')
    .trimEnd()
}

/** A sub-agent's report without its indentation, and without the text that explains the report to the model. */
function withoutHandBack(output: string): string {
  const report = /\[Subagent hand-back\][\s\S]*?The report follows:\n([\s\S]*)$/.exec(output)?.[1]
  if (report === undefined) return output
  const lines = report.split('\n')
  const end = lines.findIndex((line) => line !== '' && !line.startsWith('  '))
  return lines
    .slice(0, end === -1 ? undefined : end)
    .map((line) => line.replace(/^ {2}/, ''))
    .join('\n')
}

/** The exit code of a command: 0 if it succeeded, else the code in the first line of its output; `null` when that line names no code. */
function exitCodeOf(ok: boolean, output: string): number | null {
  if (ok) return 0
  const code = /^Exit code (\d+)/.exec(output)?.[1]
  return code === undefined ? null : Number(code)
}

/** The hunks of an edit; a new file is one hunk of added lines. `undefined` when the tool reported none. */
function hunksOf(details: z.infer<typeof Details>): readonly Hunk[] | undefined {
  if (details.type !== 'create' || typeof details.content !== 'string') return details.structuredPatch
  const lines = linesOf(details.content).map((line) => `+${line}`)
  return lines.length === 0 ? [] : [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: lines.length, lines }]
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}

function linesWith(sign: '+' | '-', hunks: readonly Hunk[] | undefined): number | null {
  return hunks?.flatMap((hunk) => hunk.lines).filter((line) => line.startsWith(sign)).length ?? null
}

function asDiff({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string {
  return [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join('\n')
}

function summaryOf(
  kind: ToolKind,
  ok: boolean,
  said: string,
  exitCode: number | null,
  counts: Pick<ToolFinished, 'additions' | 'deletions'>,
): string {
  if (kind === 'run' && exitCode !== null) return `exit code ${exitCode}`
  if (!ok) return firstLine(said)
  if (counts.additions !== null) return `+${counts.additions} −${counts.deletions ?? 0}`
  return kind === 'read' ? '' : firstLine(said)
}
