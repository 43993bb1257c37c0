/** Writes output as lines, and tracks the commands among them. */
import type { TerminalOutput } from '#domain/api/chat.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import {
  createCommandBlocks,
  type CommandBlock,
  type CommandBlocks,
  type CutOffEnd,
} from './commandBlocks.ts'
import { addOutput, outputBegun, type OutputLine, type OutputState } from './outputLines.ts'

export interface TerminalLine extends OutputLine {
  /** Increases by one per line. Earlier lines that are loaded later get lower ids, also below 0. */
  readonly id: number
  /** When the line began, in the format of ISO 8601. */
  readonly at: string
  readonly channel: 'stdout' | 'stderr'
  readonly executionId: string
  /** The position of the piece of output in which the line began. */
  readonly position: Position
}

/** The line that is being written. `of` is its execution and channel; `state` also keeps a control sequence that has not arrived in full. */
interface OpenLine {
  readonly state: OutputState
  readonly of: string
  readonly line: TerminalLine | null
}

export interface Writer {
  readonly lines: TerminalLine[]
  readonly blocks: CommandBlocks
  /** The latest output of a person's shells, which is not part of the lines; a new array whenever there is more. */
  shell?: readonly TerminalOutput[] | undefined
  nextId: number
  /** The source of the first line, if the first line may be the end of a line that is not loaded. */
  firstLineSource: string | null
  open: OpenLine
}

/** The state of a writer without its lines. Another writer with the same lines can continue from it. */
export interface WriterMark extends Omit<Writer, 'lines' | 'blocks'> {
  readonly count: number
  /** The last line as it was, since text may have been added to it later. */
  readonly last: TerminalLine | undefined
  readonly commands: readonly CommandBlock[]
  readonly cutOff: CutOffEnd | null
}

/** How many earlier pieces of the shells' output are kept: many screens of it. */
const keptOfShells = 1_000

const nothingOpen: OpenLine = { state: outputBegun, of: '', line: null }

export function createWriter(): Writer {
  return { lines: [], blocks: createCommandBlocks(), nextId: 0, firstLineSource: null, open: nothingOpen }
}

export function markOf({ lines, blocks, ...state }: Writer): WriterMark {
  return {
    ...state,
    count: lines.length,
    last: lines.at(-1),
    commands: [...blocks.all],
    cutOff: blocks.cutOff(),
  }
}

/** A writer that continues from `mark`, the state of an earlier writer. `lines` are all lines of that writer, and perhaps later lines. */
export function writerAt(mark: WriterMark, lines: readonly TerminalLine[]): Writer {
  const { count, last, commands, cutOff, ...state } = mark
  const own = lines.slice(0, count)
  if (last !== undefined) own[count - 1] = last
  return { ...state, lines: own, blocks: createCommandBlocks(commands, cutOff) }
}

export function write(writer: Writer, output: TerminalOutput): void {
  if (output.shell) {
    writer.shell = [...(writer.shell ?? []).slice(-keptOfShells), output]
    return
  }
  const of = `${output.executionId} ${output.type}`
  // Another channel or execution starts a line of its own, with its own colours.
  if (writer.open.of !== of) writer.open = { ...nothingOpen, of }
  const { finished, state } = addOutput(writer.open.state, output.content)
  // If the first output begins with the end of a command, its first line is complete: no earlier output belongs to it.
  if (output.content !== '')
    writer.firstLineSource ??= finished[0] === undefined || 'text' in finished[0] ? of : ''
  for (const item of finished) {
    if ('text' in item) put(writer, item, output)
    else writer.blocks.ended(output.executionId, writer.nextId, output.timestamp, item.exitCode)
  }
  writer.open = { ...writer.open, state }
  if (state.line !== '' || writer.open.line !== null) {
    put(writer, { text: state.line, start: state.start }, output)
    writer.open = { ...writer.open, line: writer.lines.at(-1) ?? null }
  }
}

/** Writes a line: replaces the open line if this line completes it, otherwise appends. */
function put(
  writer: Writer,
  { text, start }: OutputLine,
  { timestamp, type, executionId, position }: TerminalOutput,
): void {
  const { lines } = writer
  const openLine = writer.open.line
  writer.open = { ...writer.open, line: null }
  const over = openLine !== null && lines.at(-1) === openLine
  const line: TerminalLine = over
    ? { ...openLine, text, start }
    : { id: writer.nextId, at: timestamp, channel: type, executionId, position, text, start }
  if (over) lines[lines.length - 1] = line
  else {
    lines.push(line)
    writer.nextId += 1
  }
  writer.blocks.wrote(line)
}

/**
 * When there are more than `maxLines` lines, drops the first ones: `room` more than necessary, so that lines are dropped rarely. Returns whether
 * lines were dropped.
 */
export function trimLines({ lines, blocks, nextId }: Writer, maxLines: number, room: number): boolean {
  if (lines.length <= maxLines) return false
  let excess = lines.length - maxLines + room
  // Only whole pieces of output are dropped, because earlier output is requested by piece.
  while (excess < lines.length - 1 && lines[excess]?.position === lines[excess - 1]?.position) excess += 1
  lines.splice(0, excess)
  blocks.dropBefore(lines[0]?.id ?? nextId)
  return true
}

/** Adds the lines of `earlier`, which has earlier output, above the first line of `writer`. */
export function putBefore(writer: Writer, earlier: Writer): void {
  const { lines, blocks } = writer
  const own = lines[0]
  const last = earlier.lines.at(-1)
  // A line that was cut at the end of a page of output continues in the next page.
  if (
    own !== undefined &&
    last !== undefined &&
    earlier.open.line === last &&
    earlier.open.of === writer.firstLineSource
  ) {
    lines[0] = { ...own, at: last.at, position: last.position, start: last.start, text: last.text + own.text }
    if (writer.open.line === own) writer.open = { ...writer.open, line: lines[0] }
    earlier.lines.pop()
  }
  const shift = (lines[0]?.id ?? 0) - earlier.lines.length - (earlier.lines[0]?.id ?? 0)
  lines.splice(0, 0, ...earlier.lines.map((line) => ({ ...line, id: line.id + shift })))
  const ended = earlier.blocks.cutOff()
  blocks.putBefore(
    earlier.blocks.all.map((block) => ({
      ...block,
      id: block.id + shift,
      until: block.until === null ? null : block.until + shift,
    })),
    ended === null ? null : { ...ended, until: ended.until + shift },
    lines,
  )
  writer.firstLineSource = earlier.firstLineSource ?? ''
}
