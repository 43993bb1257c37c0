/** The open task's terminal, outside of the store: lines in a bounded buffer, one notification for all that came at once. */
import type { TerminalOutput } from '#domain/api/chat.ts'
import { addOutput, outputBegun, type OutputLine, type OutputState } from './outputLines.ts'

export interface TerminalLine extends OutputLine {
  /** Counts from the first line that was ever here. */
  readonly id: number
  /** When it began, ISO 8601. */
  readonly at: string
  readonly channel: 'stdout' | 'stderr'
  readonly executionId: string
}

/** What is there now. The lines are the same array while lines are added; `change` tells that it changed. */
export interface TerminalView {
  readonly lines: readonly TerminalLine[]
  readonly change: number
  /** Lines that were here and had to go. */
  readonly dropped: number
  readonly state: 'loading' | 'loaded' | 'failed'
  /** Why it could not be loaded. */
  readonly reason: string
}

export interface TerminalLog {
  read(): TerminalView
  subscribe(listener: () => void): () => void
  /** Begins anew with the history. It is read a part at a time, so that the page goes on; the lines change at the end. */
  reset(history: readonly TerminalOutput[]): Promise<void>
  append(output: readonly TerminalOutput[]): void
  fail(reason: string): void
}

/** Lines that are kept; a tenth of them goes at once when there are more. */
export const linesKept = 50_000

/** Pieces of history that are read without a pause. */
const readAtOnce = 1_000

export function createTerminalLog(): TerminalLog {
  const listeners = new Set<() => void>()
  let writer = createWriter()
  let view: TerminalView = { lines: writer.lines, change: 0, dropped: 0, state: 'loading', reason: '' }

  const change = (next: Partial<TerminalView>) => {
    view = { ...view, ...next, change: view.change + 1 }
    for (const listener of listeners) listener()
  }

  return {
    read: () => view,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async reset(history) {
      const next = createWriter()
      for (let from = 0; from < history.length; from += readAtOnce) {
        if (from > 0) await new Promise((resolve) => setTimeout(resolve))
        for (const output of history.slice(from, from + readAtOnce)) next.write(output)
      }
      writer = next
      change({ lines: next.lines, dropped: next.trim(), state: 'loaded', reason: '' })
    },
    append(output) {
      if (output.length === 0) return
      for (const each of output) writer.write(each)
      change({ dropped: writer.trim() })
    },
    fail: (reason) => change({ state: 'failed', reason }),
  }
}

interface Writer {
  readonly lines: readonly TerminalLine[]
  write(output: TerminalOutput): void
  /** Keeps to the bound; answers how many lines are gone in all. */
  trim(): number
}

function createWriter(): Writer {
  const lines: TerminalLine[] = []
  let nextId = 0
  let gone = 0
  let open: { state: OutputState; of: string; line: TerminalLine | null } = nothingOpen()

  /** Writes a line: over the one that was open, which it is the end of, or below the last. */
  function put({ text, start }: OutputLine, { timestamp, type, executionId }: TerminalOutput): void {
    const written = open.line
    open = { ...open, line: null }
    if (written !== null && lines.at(-1) === written) lines[lines.length - 1] = { ...written, text, start }
    else {
      lines.push({ id: nextId, at: timestamp, channel: type, executionId, text, start })
      nextId += 1
    }
  }

  return {
    lines,
    write(output) {
      const of = `${output.executionId} ${output.type}`
      // Another channel or another execution begins a line of its own, with its own colours.
      if (open.of !== of) open = { ...nothingOpen(), of }
      const { finished, state } = addOutput(open.state, output.content)
      for (const line of finished) put(line, output)
      open = { ...open, state }
      if (state.line !== '' || open.line !== null) {
        put({ text: state.line, start: state.start }, output)
        open = { ...open, line: lines.at(-1) ?? null }
      }
    },
    trim() {
      if (lines.length > linesKept) {
        const more = lines.length - linesKept + linesKept / 10
        lines.splice(0, more)
        gone += more
      }
      return gone
    },
  }
}

function nothingOpen() {
  return { state: outputBegun, of: '', line: null }
}
