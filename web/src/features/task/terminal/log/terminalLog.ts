/** The open task's terminal, outside of the store: lines in a bounded buffer, one notification for all that came at once. */
import type { TerminalOutput } from '#domain/api/chat.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import { createCommandBlocks, type CommandBlock, type CutOffEnd } from './commandBlocks.ts'
import { addOutput, outputBegun, type OutputLine, type OutputState } from './outputLines.ts'

export interface TerminalLine extends OutputLine {
  /** Counts up by one from line to line; what is read later from further up has lower ones, also below 0. */
  readonly id: number
  /** When it began, ISO 8601. */
  readonly at: string
  readonly channel: 'stdout' | 'stderr'
  readonly executionId: string
  /** Of the piece of output that it began in. */
  readonly position: Position
}

/** What is there now. The lines and the commands are the same arrays while lines are added; `change` tells that they changed. */
export interface TerminalView {
  readonly lines: readonly TerminalLine[]
  readonly commands: readonly CommandBlock[]
  readonly change: number
  /** Whether there is more above the first line, and how reading it stands; `gone`: it cannot be shown here. */
  readonly earlier: 'none' | 'some' | 'loading' | 'failed' | 'gone'
  readonly state: 'loading' | 'loaded' | 'failed'
  /** Why it could not be loaded. */
  readonly reason: string
}

export interface TerminalLog {
  read(): TerminalView
  subscribe(listener: () => void): () => void
  /**
   * Begins anew with the latest output. It is read a part at a time, so that the page goes on; the lines change at the end.
   * `whole`: nothing was printed before it.
   */
  reset(history: readonly TerminalOutput[], whole?: boolean): Promise<void>
  append(output: readonly TerminalOutput[]): void
  /** Adds the output before the first line, where somebody can read it. */
  showEarlier(): Promise<void>
  fail(reason: string): void
}

/** Output from before a position: the latest of it, oldest first, and whether that is all; `null` when it cannot be read. */
export type ReadEarlier = (
  before: Position,
) => Promise<{ readonly output: readonly TerminalOutput[]; readonly whole: boolean } | null>

/** Lines that are kept beside those that somebody asked for; a tenth of them goes at once when there are more. */
export const linesKept = 50_000
/** Earlier lines are added up to so many in all: more than this is for a search in a file. */
export const mostLines = 200_000

/** Pieces of history that are read without a pause. */
const readAtOnce = 1_000

export function createTerminalLog(readEarlier?: ReadEarlier): TerminalLog {
  const listeners = new Set<() => void>()
  let writer = createWriter([])
  let view: TerminalView = {
    lines: writer.lines,
    commands: writer.commands,
    change: 0,
    earlier: 'none',
    state: 'loading',
    reason: '',
  }
  /** Lines that somebody asked for, and that are kept beside the latest. */
  let asked = 0
  /** What is above the lines was printed before this. */
  let top: Position | undefined
  const trim = (most: number): boolean => {
    const dropped = writer.trim(most)
    if (dropped) top = writer.lines[0]?.position
    return dropped
  }

  const change = (next: Partial<TerminalView>) => {
    view = { ...view, ...next, change: view.change + 1 }
    for (const listener of listeners) listener()
  }
  /** What there is above the lines, once some of them may have gone. */
  const above = (known: TerminalView['earlier'], dropped: boolean): TerminalView['earlier'] => {
    if (!dropped && known === 'none') return 'none'
    if (readEarlier === undefined || writer.lines.length >= mostLines) return 'gone'
    return dropped ? 'some' : known
  }

  return {
    read: () => view,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async reset(history, whole = true) {
      const next = await written(createWriter([]), history)
      asked = 0
      writer = next
      top = history[0]?.position
      const dropped = trim(linesKept)
      const { lines, commands } = next
      change({
        lines,
        commands,
        earlier: above(whole ? 'none' : 'some', dropped),
        state: 'loaded',
        reason: '',
      })
    },
    append(output) {
      if (output.length === 0) return
      for (const each of output) writer.write(each)
      change({ earlier: above(view.earlier, trim(linesKept + asked)) })
    },
    async showEarlier() {
      const before = top
      if (readEarlier === undefined || before === undefined || view.earlier === 'loading') return
      change({ earlier: 'loading' })
      const mine = writer
      const found = await readEarlier(before)
      if (writer !== mine) return
      if (found === null) return change({ earlier: 'failed' })
      const earlier = await written(createWriter([]), found.output)
      // What went meanwhile counts: only what is above the same line belongs there.
      if (writer !== mine || top !== before) return change({ earlier: 'some' })
      asked += earlier.lines.length
      top = found.output[0]?.position ?? before
      writer.putBefore(earlier)
      change({ earlier: above(found.whole ? 'none' : 'some', false) })
    },
    fail: (reason) => change({ state: 'failed', reason }),
  }
}

async function written(writer: Writer, history: readonly TerminalOutput[]): Promise<Writer> {
  for (let from = 0; from < history.length; from += readAtOnce) {
    if (from > 0) await new Promise((resolve) => setTimeout(resolve))
    for (const output of history.slice(from, from + readAtOnce)) writer.write(output)
  }
  return writer
}

interface Writer {
  readonly lines: TerminalLine[]
  readonly commands: readonly CommandBlock[]
  write(output: TerminalOutput): void
  /** Keeps to a number of lines; whether some had to go. */
  trim(most: number): boolean
  /** Puts what another wrote above the first line. */
  putBefore(earlier: Writer): void
  /** What is cut off at its ends. */
  cuts(): {
    /** Who wrote its first line, when that may be the end of one that is not here. */
    readonly first: string
    /** The last line while it is written on, and by whom. */
    readonly line: TerminalLine | null
    readonly of: string
    /** How a command ended that is not here. */
    readonly ended: CutOffEnd | null
  }
}

function createWriter(lines: TerminalLine[]): Writer {
  const blocks = createCommandBlocks()
  let nextId = 0
  let first: string | null = null
  let open: { state: OutputState; of: string; line: TerminalLine | null } = nothingOpen()

  /** Writes a line: over the one that was open, which it is the end of, or below the last. */
  function put(
    { text, start }: OutputLine,
    { timestamp, type, executionId, position }: TerminalOutput,
  ): void {
    const written = open.line
    open = { ...open, line: null }
    const over = written !== null && lines.at(-1) === written
    const line: TerminalLine = over
      ? { ...written, text, start }
      : { id: nextId, at: timestamp, channel: type, executionId, position, text, start }
    if (over) lines[lines.length - 1] = line
    else {
      lines.push(line)
      nextId += 1
    }
    blocks.wrote(line)
  }

  return {
    lines,
    commands: blocks.all,
    write(output) {
      const of = sourceOf(output.executionId, output.type)
      // Another channel or another execution begins a line of its own, with its own colours.
      if (open.of !== of) open = { ...nothingOpen(), of }
      const { finished, state } = addOutput(open.state, output.content)
      // A command that ends here ends the line before it.
      if (output.content !== '') first ??= finished[0] === undefined || 'text' in finished[0] ? of : ''
      for (const item of finished) {
        if ('text' in item) put(item, output)
        else blocks.ended(output.executionId, nextId, output.timestamp, item.exitCode)
      }
      open = { ...open, state }
      if (state.line !== '' || open.line !== null) {
        put({ text: state.line, start: state.start }, output)
        open = { ...open, line: lines.at(-1) ?? null }
      }
    },
    trim(most) {
      if (lines.length <= most) return false
      let gone = lines.length - most + Math.floor(linesKept / 10)
      // Whole pieces of output go: what is above the first line can be asked for by its piece.
      while (gone < lines.length - 1 && lines[gone]?.position === lines[gone - 1]?.position) gone += 1
      lines.splice(0, gone)
      blocks.dropBefore(lines[0]?.id ?? nextId)
      return true
    },
    putBefore(earlier) {
      const own = lines[0]
      const last = earlier.lines.at(-1)
      const cut = earlier.cuts()
      // A line that a page of output ends in goes on in the next.
      if (own !== undefined && last !== undefined && cut.line === last && cut.of === first) {
        lines[0] = {
          ...own,
          at: last.at,
          position: last.position,
          start: last.start,
          text: last.text + own.text,
        }
        if (open.line === own) open = { ...open, line: lines[0] }
        earlier.lines.pop()
      }
      const shift = (lines[0]?.id ?? 0) - earlier.lines.length - (earlier.lines[0]?.id ?? 0)
      for (const [index, line] of earlier.lines.entries())
        earlier.lines[index] = { ...line, id: line.id + shift }
      lines.splice(0, 0, ...earlier.lines)
      blocks.putBefore(
        earlier.commands.map((block) => ({
          ...block,
          id: block.id + shift,
          until: block.until === null ? null : block.until + shift,
        })),
        cut.ended === null ? null : { ...cut.ended, until: cut.ended.until + shift },
        lines,
      )
      first = cut.first
    },
    cuts: () => ({ first: first ?? '', line: open.line, of: open.of, ended: blocks.cutOff() }),
  }
}

function sourceOf(executionId: string, channel: string): string {
  return `${executionId} ${channel}`
}

function nothingOpen() {
  return { state: outputBegun, of: '', line: null }
}
