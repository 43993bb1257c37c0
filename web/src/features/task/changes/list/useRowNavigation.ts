/** Navigation in the list: by file, by change, by line, and to a destination given from elsewhere. */
import { useLayoutEffect } from 'react'
import { useAction } from '../../../../actions/ActionsContext.tsx'
import { hasKey, hunkStarts, rowHeights, type DiffRow } from '../diff/diffRows.ts'
import type { ActiveRow } from './useActiveRow.ts'
import type { RowWindow } from './useRowWindow.ts'

/** A file or a line to go to. Each navigation passes a new object, even when it goes to the same place again. */
export interface Destination {
  readonly fileName: string
  readonly key: string | null
}

/** The height in pixels that stays visible above a change that is navigated to: a head, a bar and some lines. */
const aboveChange = rowHeights.file + rowHeights.bar + 3 * rowHeights.line

interface NavigationOf {
  readonly rows: readonly DiffRow[]
  readonly heads: readonly number[]
  readonly view: RowWindow
  readonly active: ActiveRow
  readonly goTo: Destination | null
  readonly visible: boolean
  readonly onLeave: () => void
}

export function useRowNavigation({ rows, heads, view, active, goTo, visible, onLeave }: NavigationOf) {
  const { list, position, startOf, scrollTo } = view
  const goToFile = (head: number) => {
    scrollTo(startOf(head))
    const row = rows[head + 1]
    const line = rows.findIndex((other, index) => index > head && other.kind === 'line')
    if (row !== undefined && line !== -1 && rows[line]?.file === row.file) active.focus(rows[line])
    else active.choose(rows[head])
  }
  const stepFile = (by: 1 | -1) => {
    const next =
      by === 1
        ? heads.find((head) => head > position)
        : heads.findLast((head) => head < (heads.findLast((each) => each <= position) ?? 0))
    if (next !== undefined) goToFile(next)
  }
  const stepHunk = (by: 1 | -1) => {
    const starts = hunkStarts(rows)
    const next = by === 1 ? starts.find((at) => at > position) : starts.findLast((at) => at < position)
    if (next === undefined) return
    onLeave()
    scrollTo(startOf(next) - aboveChange)
    active.focus(rows[next])
  }
  useAction('nextFile', () => stepFile(1), visible)
  useAction('previousFile', () => stepFile(-1), visible)
  useAction('nextHunk', () => stepHunk(1), visible)
  useAction('previousHunk', () => stepHunk(-1), visible)

  // Scrolls to the destination `goTo`, which another part of the page has chosen. A line's file is already expanded.
  useLayoutEffect(() => {
    if (goTo === null) return
    const { fileName, key } = goTo
    const head = rows.findIndex((row) => row.kind === 'file' && row.file.name === fileName)
    if (head === -1) return
    if (key === null) {
      scrollTo(startOf(head))
      const first = rows[head + 1]?.file === rows[head]?.file ? head + 1 : head
      return active.choose(rows[first])
    }
    const line = rows.findIndex((row, index) => index > head && hasKey(row, fileName, key))
    if (line !== -1) list.scrollToIndex(line, { align: 'center' })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the list goes to a destination once, however its rows change later
  }, [goTo])

  return {
    /** The index of the next or the previous line, counted from the active row; -1 when there is none. */
    lineBeside: (by: 1 | -1) =>
      by === 1
        ? rows.findIndex((row, index) => index > active.index && row.kind === 'line')
        : rows.findLastIndex((row, index) => index < active.index && row.kind === 'line'),
    walkTo: (index: number) => {
      list.scrollToIndex(index, { align: 'auto' })
      active.focus(rows[index])
    },
  }
}
