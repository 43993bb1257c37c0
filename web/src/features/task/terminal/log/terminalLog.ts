/** The open task's terminal, outside of the store: lines in a bounded buffer, with one notification for everything that arrives together. */
import type { TerminalOutput } from '#domain/api/chat.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import { createObserved, type Observed } from '../../observedValue.ts'
import type { CommandBlock } from './commandBlocks.ts'
import {
  createWriter,
  putBefore,
  trimLines,
  write,
  type TerminalLine,
  type Writer,
} from './terminalWriter.ts'

/** The terminal as it is shown. Lines and commands stay the same arrays while lines are added; a new `change` means that they changed. */
export interface TerminalView {
  readonly lines: readonly TerminalLine[]
  readonly commands: readonly CommandBlock[]
  readonly shell?: readonly TerminalOutput[] | undefined
  readonly change: number
  /** Whether there is output above the first line, and the state of loading it; `gone` means that the output cannot be shown here. */
  readonly earlier: 'none' | 'some' | 'loading' | 'failed' | 'gone'
  readonly state: 'loading' | 'loaded' | 'failed'
  readonly reason: string
}

export interface TerminalLog extends Observed<TerminalView> {
  /**
   * Starts over with the latest output. The output is processed in parts, so that the page stays responsive, and is shown once all of it is
   * processed. `whole` says that there is no earlier output.
   */
  reset(history: readonly TerminalOutput[], whole?: boolean): Promise<void>
  append(output: readonly TerminalOutput[]): void
  /** Loads the output before the first line, if `readEarlier` was given. */
  showEarlier(): Promise<void>
  fail(reason: string): void
}

/**
 * Reads the latest part of the output before a position, oldest first. `whole` says that there is no earlier output. `null` when the output cannot be
 * read.
 */
export type ReadEarlier = (
  before: Position,
) => Promise<{ readonly output: readonly TerminalOutput[]; readonly whole: boolean } | null>

/** How many lines are kept in addition to those that somebody loaded. When there are more, the excess and a tenth of this number are dropped. */
export const keptLines = 50_000
/** Earlier lines can be loaded up to this total number of lines: more are easier to search in a file than on a page. */
export const maxLines = 200_000

/** How many pieces of history are processed without a pause. */
const readAtOnce = 1_000

export function createTerminalLog(readEarlier?: ReadEarlier): TerminalLog {
  let writer = createWriter()
  const { read, subscribe, set } = createObserved<TerminalView>({
    lines: writer.lines,
    commands: writer.blocks.all,
    change: 0,
    earlier: 'none',
    state: 'loading',
    reason: '',
  })
  /** The number of earlier lines that somebody loaded, which are kept in addition to the latest. */
  let requestedLines = 0
  /** The output above the first line was printed before this position. */
  let top: Position | undefined
  const trim = (most: number): boolean => {
    const dropped = trimLines(writer, most, Math.floor(keptLines / 10))
    if (dropped) {
      top = writer.lines[0]?.position
      // The dropped lines were complete, so nothing before the first line belongs to it.
      writer.firstLineSource = ''
    }
    return dropped
  }

  const change = (next: Partial<TerminalView>) =>
    set({ ...read(), ...next, shell: writer.shell, change: read().change + 1 })
  /**
   * The new value of `earlier`: whether there is output above the first line. `known` is the last value, and `dropped` says whether lines were just
   * dropped.
   */
  const above = (known: TerminalView['earlier'], dropped: boolean): TerminalView['earlier'] => {
    if (!dropped && known === 'none') return 'none'
    if (readEarlier === undefined || writer.lines.length >= maxLines) return 'gone'
    return dropped ? 'some' : known
  }

  return {
    read,
    subscribe,
    async reset(history, whole = true) {
      const next = await writeInParts(createWriter(), history)
      requestedLines = 0
      writer = next
      top = history[0]?.position
      const dropped = trim(keptLines)
      change({
        lines: next.lines,
        commands: next.blocks.all,
        earlier: above(whole ? 'none' : 'some', dropped),
        state: 'loaded',
        reason: '',
      })
    },
    append(output) {
      if (output.length === 0) return
      for (const each of output) write(writer, each)
      change({ earlier: above(read().earlier, trim(keptLines + requestedLines)) })
    },
    async showEarlier() {
      const before = top
      if (readEarlier === undefined || before === undefined || read().earlier === 'loading') return
      change({ earlier: 'loading' })
      const mine = writer
      const page = await readEarlier(before)
      if (writer !== mine) return
      if (page === null) return change({ earlier: 'failed' })
      const earlier = await writeInParts(createWriter(), page.output)
      // If lines were dropped meanwhile, the loaded output no longer fits above the first line.
      if (writer !== mine || top !== before) return change({ earlier: 'some' })
      requestedLines += earlier.lines.length
      top = page.output[0]?.position ?? before
      putBefore(writer, earlier)
      change({ earlier: above(page.whole ? 'none' : 'some', false) })
    },
    fail: (reason) => change({ state: 'failed', reason }),
  }
}

async function writeInParts(writer: Writer, history: readonly TerminalOutput[]): Promise<Writer> {
  for (let from = 0; from < history.length; from += readAtOnce) {
    if (from > 0) await new Promise((resolve) => setTimeout(resolve))
    for (const output of history.slice(from, from + readAtOnce)) write(writer, output)
  }
  return writer
}
