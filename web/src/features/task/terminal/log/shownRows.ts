/** Which lines of a terminal are shown when the output of some commands is folded. Pure. */
import type { CommandBlock } from './commandBlocks.ts'

export interface ShownRows {
  readonly count: number
  /** The index of the line that a row shows. */
  lineAt(row: number): number
  /** The row that shows a line; the row of its command where it is folded away. */
  rowOf(line: number): number
}

interface Gap {
  /** The index of the first line that is not shown, and how many lines are not. */
  readonly at: number
  readonly lines: number
  /** The row that would show the first of them. */
  readonly row: number
}

/** The rows of `length` lines, the first of which has this id; `folded` has the ids of commands. */
export function shownRows(
  firstId: number,
  length: number,
  commands: readonly CommandBlock[],
  folded: ReadonlySet<number>,
): ShownRows {
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
    lineAt(row) {
      const gap = lastOf(gaps, (each) => each.row <= row)
      return gap === undefined ? row : row - gap.row + gap.at + gap.lines
    },
    rowOf(line) {
      const gap = lastOf(gaps, (each) => each.at <= line)
      if (gap === undefined) return line
      return line < gap.at + gap.lines ? gap.row - 1 : line - gap.at - gap.lines + gap.row
    },
  }
}

/** How many lines a command printed, of those that are here. */
export function linesOf({ id, until }: CommandBlock, firstId: number, length: number): number {
  return Math.min(until ?? Number.POSITIVE_INFINITY, firstId + length) - id - 1
}

/** The command that a line announces, or whose output it is. */
export function commandOf(commands: readonly CommandBlock[], id: number): CommandBlock | undefined {
  const last = lastOf(commands, (command) => command.id <= id)
  return last !== undefined && (last.id === id || last.until === null || id < last.until) ? last : undefined
}

/** The last of those that are so, where all before it are so too. */
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
