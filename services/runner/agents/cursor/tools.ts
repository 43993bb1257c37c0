/** Describes the tool calls of `cursor-agent`: their kind, target and result. */
import { z } from 'zod'
import type { ToolKind } from '#domain/task/events.ts'
import { jsonOf } from '#platform/json.ts'
import type { ToolFinished, ToolStarted } from '../port.ts'
import { firstLine, shortened, shortJson } from '../shorten.ts'
import { finishedTool, outputLimit, targetOf, type Targets } from '../tools.ts'

/** The kind of each tool. A key is the name of a tool without the ending `ToolCall`, or the name of a function without underscores. */
const kinds: Readonly<Record<string, ToolKind>> = {
  read: 'read',
  readfile: 'read',
  write: 'edit',
  edit: 'edit',
  editfile: 'edit',
  editnotebook: 'edit',
  applypatch: 'edit',
  searchreplace: 'edit',
  delete: 'edit',
  deletefile: 'edit',
  shell: 'run',
  runterminalcmd: 'run',
  ls: 'search',
  listdir: 'search',
  glob: 'search',
  grep: 'search',
  semsearch: 'search',
  semanticsearch: 'search',
  codebasesearch: 'search',
  websearch: 'fetch',
  webfetch: 'fetch',
  fetch: 'fetch',
  updatetodos: 'todo',
  todowrite: 'todo',
}

const targets: Targets = {
  fields: [
    'command',
    'pattern',
    'globPattern',
    'query',
    'searchTerm',
    'url',
    'path',
    'filePath',
    'target_file',
    'targetDirectory',
    'toolName',
    'question',
  ],
  paths: new Set(['path', 'filePath', 'target_file', 'targetDirectory']),
}

const Args = z.record(z.string(), z.unknown())
type Args = z.infer<typeof Args>
const Call = z.object({ args: Args.catch({}), result: z.unknown().optional() })
const Function = z.object({
  name: z.string(),
  arguments: z.unknown().optional(),
  result: z.unknown().optional(),
})

interface ToolCall {
  /** The tool's name: the key without its ending, such as `Shell`, or the name of the function. */
  readonly name: string
  readonly args: Args
  readonly result: unknown
}

/** The call in a line's `tool_call`: the value of the key that ends with `ToolCall`, or of `function`. Other keys are not part of the call. */
export function toolCallOf(toolCall: Readonly<Record<string, unknown>>): ToolCall {
  const key = Object.keys(toolCall).find((name) => name.endsWith('ToolCall'))
  const called = Call.safeParse(key === undefined ? undefined : toolCall[key])
  if (key !== undefined && called.success)
    return {
      name: titled(key.slice(0, -'ToolCall'.length)),
      args: called.data.args,
      result: called.data.result,
    }
  const named = Function.safeParse(toolCall['function'])
  if (!named.success) return { name: key ?? 'Tool', args: {}, result: undefined }
  const { name, arguments: given, result } = named.data
  return { name, args: argumentsOf(given), result }
}

const titled = (name: string): string =>
  name === 'ls' ? 'LS' : `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`

/** The arguments of a function call, which may be JSON within a string. */
function argumentsOf(given: unknown): Args {
  return Args.catch({}).parse(typeof given === 'string' ? jsonOf(given) : given)
}

/** The event for a tool that starts. Paths below the folder `workspace` are shown relative to it. */
export function toolStarted(toolId: string, { name, args }: ToolCall, workspace: string): ToolStarted {
  return {
    type: 'tool_started',
    toolId,
    parentToolId: null,
    kind: kinds[name.toLowerCase().replaceAll('_', '')] ?? 'other',
    name,
    target: targetOf(args, targets, workspace),
    input: shortJson(args),
  }
}

/** The details that a result has under the key `success`, or under the name of a failure. */
const Details = z
  .union([z.record(z.string(), z.unknown()), z.string().transform((message) => ({ message }))])
  .catch({})
const Ended = z.record(z.string(), Details)
const Ran = z.object({
  exitCode: z.number().int().optional(),
  stdout: z.string().catch(''),
  stderr: z.string().catch(''),
})
const Edited = z.object({
  linesAdded: z.number().int().optional(),
  linesRemoved: z.number().int().optional(),
  linesCreated: z.number().int().optional(),
  diffString: z.string().optional(),
})

export function toolFinished({ toolId, kind }: ToolStarted, { args, result }: ToolCall): ToolFinished {
  const { how, details } = endOf(result)
  const ok = how === 'success'
  if (kind === 'run' && (ok || how === 'failure')) {
    const run = ranCommand(ok, details)
    return finishedTool(toolId, ok && run.exitCode === 0, run)
  }
  if (kind === 'edit' && ok) return finishedTool(toolId, ok, edited(args, details))
  const words = ok ? textIn(details) : reasonOf(how, details)
  const summary = ok && kind === 'read' ? '' : firstLine(words)
  return finishedTool(toolId, ok, { summary, output: shortened(words, outputLimit) })
}

function endOf(result: unknown): { readonly how: string; readonly details: Args } {
  const read = Ended.safeParse(result)
  // A result that cannot be read counts as a success.
  if (!read.success) return { how: 'success', details: {} }
  const ends = Object.keys(read.data)
  // The result may also have keys like `isBackground`, which do not say how the call ended.
  const how = ['success', 'failure'].find((name) => ends.includes(name)) ?? ends[0] ?? 'success'
  return { how, details: read.data[how] ?? {} }
}

function ranCommand(isSuccess: boolean, details: Args) {
  const { exitCode: code, stdout, stderr } = Ran.parse(details)
  const exitCode = code ?? (isSuccess ? 0 : null)
  const output = [stdout, stderr].filter((part) => part !== '').join(stdout.endsWith('\n') ? '' : '\n')
  const summary =
    exitCode === null ? firstLine(output || reasonOf('failure', details)) : `exit code ${exitCode}`
  return { exitCode, summary, output: shortened(output.trimEnd(), outputLimit) }
}

function edited(args: Args, details: Args) {
  const read = Edited.safeParse(details)
  const { linesAdded, linesRemoved, linesCreated, diffString } = read.success ? read.data : {}
  const additions = linesAdded ?? linesCreated ?? writtenLines(args)
  const deletions = linesRemoved ?? null
  const counts = additions === null ? '' : `+${additions}${deletions === null ? '' : ` −${deletions}`}`
  return {
    additions,
    deletions,
    summary: counts === '' ? firstLine(textIn(details)) : counts,
    output: shortened(diffString ?? '', outputLimit),
  }
}

/** The number of lines in a file that the tool wrote as a whole; `null` when the tool did something else. */
function writtenLines({ fileText }: Args): number | null {
  if (typeof fileText !== 'string') return null
  const lines = fileText.split('\n').length
  return fileText === '' || fileText.endsWith('\n') ? lines - 1 : lines
}

/** The text of a result, which each tool has under another key. */
function textIn(details: Args): string {
  for (const field of ['content', 'markdown', 'text', 'output', 'message', 'contents']) {
    const value = details[field]
    if (typeof value === 'string') return value
  }
  return Object.keys(details).length === 0 ? '' : shortJson(details)
}

const reasons: Readonly<Record<string, string>> = {
  rejected: 'It was refused.',
  permissionDenied: 'It is not permitted.',
  timeout: 'It took too long.',
  fileNotFound: 'There is no such file.',
}

function reasonOf(how: string, details: Args): string {
  for (const field of ['reason', 'errorMessage', 'error', 'message', 'stderr']) {
    const value = details[field]
    if (typeof value === 'string' && value !== '') return value
  }
  return reasons[how] ?? 'It failed.'
}
