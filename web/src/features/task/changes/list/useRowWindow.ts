/** Which rows are rendered: the visible ones, and the few that must stay rendered. */
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback } from 'react'
import { type DiffRow, rowHeights } from '../diff/diffRows.ts'

interface WindowOf {
  readonly rows: readonly DiffRow[]
  readonly heads: readonly number[]
  readonly split: boolean
  readonly box: RefObject<HTMLElement | null>
  /** Indexes of rows that stay rendered; -1 for none. */
  readonly active: number
  readonly comment: number
}

export function useRowWindow({ rows, heads, split, box, active, comment }: WindowOf) {
  const rangeExtractor = useCallback(
    (seen: Range) => {
      const head = heads.findLast((each) => each <= seen.startIndex) ?? 0
      // The focused row, the comment box, and the head of the file at the top always stay rendered.
      const kept = [head, active, comment].filter((index) => index !== -1)
      return [...new Set([...kept, ...defaultRangeExtractor(seen)])].toSorted((a, b) => a - b)
    },
    [heads, active, comment],
  )
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => rowHeights[rows[index]?.kind ?? 'line'],
    getItemKey: useCallback((index: number) => rows[index]?.id ?? index, [rows]),
    // A side-by-side row needs twice as many nodes, so fewer rows are rendered ahead.
    overscan: split ? 3 : 6,
    scrollPaddingStart: rowHeights.file,
    rangeExtractor,
  })
  const items = list.getVirtualItems()
  const seen = list.range ?? { startIndex: 0, endIndex: 0 }
  const isActiveSeen = active !== -1 && active >= seen.startIndex && active <= seen.endIndex
  // The head of the file covers the row behind it, so the topmost visible row is below the head.
  const below = list.getVirtualItemForOffset((list.scrollOffset ?? 0) + rowHeights.file - 1)
  /** The distance from the top of the list to a row, in pixels. */
  const startOf = (index: number) => list.measurementsCache[index]?.start ?? 0
  return {
    list,
    items,
    firstLine: items.find(({ index }) => index >= seen.startIndex && rows[index]?.kind === 'line')?.index,
    /** The index of the current row: the active row while it is visible, otherwise the topmost visible one. */
    position: isActiveSeen ? active : (below?.index ?? 0),
    startOf,
    scrollTo: (offset: number) => list.scrollToOffset(Math.max(0, offset)),
    endOfFile: (index: number) => {
      const next = heads.find((head) => head > index)
      return next === undefined ? list.getTotalSize() : startOf(next)
    },
  }
}

export type RowWindow = ReturnType<typeof useRowWindow>
