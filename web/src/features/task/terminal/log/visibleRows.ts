/** The visible lines of a terminal when the output of some commands is collapsed. Pure. */
import type { CommandBlock } from './commandBlocks.ts'

export type VisibleRows = ReturnType<typeof visibleRows>

interface Gap {
  /** The index of the first hidden line, and the number of hidden lines. */
  readonly at: number
  readonly lines: number
  /** The row at which the hidden lines would begin. */
  readonly row: number
}

/** The rows for `length` lines, the first of which has the id `firstId`; `folded` contains the ids of collapsed commands. */
export function visibleRows(
  firstId: number,
  length: number,
  commands: readonly CommandBlock[],
  folded: ReadonlySet<number>,
) {
  const gaps: Gap[] = []
  let hidden = 0
  if (folded.size > 0) {
    for (const command of commands) {
      if (!folded.has(command.id)) continue
      const at = command.id - firstId + 1
      const lines = linesOf(command, firstId, length)
      if (lines <= 0) continue
      gaps.push({ at, lines, row: at - hidden })
      hidden += lines
    }
  }
  return {
    count: length - hidden,
    lineAt(row: number): number {
      const gap = lastOf(gaps, (each) => each.row <= row)
      return gap === undefined ? row : row - gap.row + gap.at + gap.lines
    },
    /** The row that shows a line; if the line is hidden, the row of its command. */
    rowOf(line: number): number {
      const gap = lastOf(gaps, (each) => each.at <= line)
      if (gap === undefined) return line
      return line < gap.at + gap.lines ? gap.row - 1 : line - gap.at - gap.lines + gap.row
    },
  }
}

/** How many loaded lines a command printed. */
export function linesOf({ id, until }: CommandBlock, firstId: number, length: number): number {
  return Math.min(until ?? Number.POSITIVE_INFINITY, firstId + length) - id - 1
}

/** The command that a line belongs to, whether the line is its command line or its output. */
export function commandOf(commands: readonly CommandBlock[], id: number): CommandBlock | undefined {
  const last = lastOf(commands, (command) => command.id <= id)
  return last !== undefined && (last.id === id || last.until === null || id < last.until) ? last : undefined
}

/** The last item that satisfies the condition. The items that satisfy it must be the first ones of the list. */
function lastOf<Item>(items: readonly Item[], isSo: (item: Item) => boolean): Item | undefined {
  let from = 0
  let to = items.length
  while (from < to) {
    const middle = (from + to) >> 1
    const item = items[middle]
    if (item !== undefined && isSo(item)) from = middle + 1
    else to = middle
  }
  return items[from - 1]
}
