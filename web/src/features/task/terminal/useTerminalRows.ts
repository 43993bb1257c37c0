/** Which lines are in sight: the rows, what is folded, and a scroll position that stays with what is read. */
import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type RefObject } from 'react'
import { useFollowEnd } from '../../../ui/layout/useFollowEnd.ts'
import { commandOf, shownRows } from './log/shownRows.ts'
import type { TerminalView } from './log/terminalLog.ts'
import type { TerminalLine } from './log/terminalWriter.ts'
import { useRowSelection } from './useRowSelection.ts'

export interface TerminalRowsState {
  readonly box: RefObject<HTMLDivElement | null>
  readonly content: RefObject<HTMLDivElement | null>
  readonly onScroll: () => void
  readonly following: boolean
  readonly jumpToEnd: () => void
  readonly virtual: Virtualizer<HTMLDivElement, Element>
  /** Of all rows together, in pixels. */
  readonly height: number
  readonly lineOf: (row: number) => TerminalLine | undefined
  /** Ids of the commands whose output is folded. */
  readonly folded: ReadonlySet<number>
  readonly toggle: (commandId: number) => void
  /** The id of the first line in sight. */
  readonly topId: () => number
  /** Brings a line into sight, out of a fold if it is in one. */
  readonly reveal: (id: number) => void
}

const lineHeight = 20
const commandHeight = 32
const edge = 8
/** Rows that come at the end before all are placed anew. */
const roomFor = 500
/** The row that offers earlier output. */
const offerHeight = 44

export function useTerminalRows(
  { lines, commands, change, earlier }: TerminalView,
  wrap: boolean,
): TerminalRowsState {
  const { box, content, following, onScroll, jumpToEnd, stay } = useFollowEnd()
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  const firstId = lines[0]?.id ?? 0
  // The arrays stay the same while they change: `change` tells.
  const shown = useMemo(
    () => (change < 0 ? undefined : shownRows(firstId, lines.length, commands, folded)),
    [change, firstId, lines, commands, folded],
  )
  if (shown === undefined) throw new Error('Changes count up.')
  const latest = useRef({ lines, shown })
  latest.current = { lines, shown }
  const lineOf = useCallback((row: number) => {
    const now = latest.current
    return now.lines[now.shown.lineAt(row)]
  }, [])
  const idOf = useCallback((row: number) => lineOf(row)?.id, [lineOf])
  const selected = useRowSelection(content, idOf)

  const announced = commands.length
  const getItemKey = useMemo(
    () => keysOf(idOf, [firstId, folded, announced]),
    [idOf, firstId, folded, announced],
  )
  const estimateSize = useCallback(
    (row: number) => {
      const id = idOf(row)
      return id !== undefined && commandOf(commands, id)?.id === id ? commandHeight : lineHeight
    },
    [commands, idOf],
  )
  // All rows are placed anew when their number changes: so there is room for some that are still to come.
  const room = Math.ceil(shown.count / roomFor) * roomFor
  const virtual = useVirtualizer({
    count: room,
    getScrollElement: () => box.current,
    estimateSize,
    getItemKey,
    overscan: 12,
    paddingStart: earlier === 'none' ? edge : offerHeight,
    paddingEnd: edge,
    rangeExtractor: (range) => {
      const rows = new Set(defaultRangeExtractor(range))
      for (const id of selected) if (id >= firstId) rows.add(shown.rowOf(id - firstId))
      return [...rows].filter((row) => row < shown.count).toSorted((one, other) => one - other)
    },
  })
  // Wrapped lines have heights of their own, and lose them when wrapping ends.
  const wrapped = useRef(wrap)
  useLayoutEffect(() => {
    if (wrapped.current === wrap) return
    wrapped.current = wrap
    virtual.measure()
  })
  useLayoutEffect(() => {
    if (following && change > 0) jumpToEnd()
  }, [change, following, jumpToEnd])

  // What is read stays where it is when lines above it come or go.
  const read = useRef<{ readonly id: number; readonly below: number } | null>(null)
  const scrolled = () => {
    onScroll()
    const view = box.current
    const item = view === null ? undefined : virtual.getVirtualItemForOffset(view.scrollTop)
    const id = item === undefined ? undefined : idOf(item.index)
    read.current =
      view === null || item === undefined || id === undefined
        ? null
        : { id, below: view.scrollTop - item.start }
  }
  const above = useRef({ firstId, earlier, folded })
  useLayoutEffect(() => {
    const before = above.current
    above.current = { firstId, earlier, folded }
    const same = before.firstId === firstId && before.earlier === earlier && before.folded === folded
    const view = box.current
    if (same || following || view === null || read.current === null) return
    const row = shown.rowOf(Math.max(0, read.current.id - firstId))
    const start = virtual.getOffsetForIndex(row, 'start')?.[0]
    if (start !== undefined) view.scrollTop = start + read.current.below
  }, [firstId, earlier, folded, following, box, shown, virtual])

  // The row is there once what it was folded in is open.
  const [revealing, setRevealing] = useState<{ readonly id: number } | null>(null)
  useEffect(() => {
    if (revealing === null) return
    const { lines: all, shown: rows } = latest.current
    virtual.scrollToIndex(rows.rowOf(revealing.id - (all[0]?.id ?? 0)), { align: 'center' })
  }, [revealing, virtual])

  return {
    box,
    content,
    onScroll: scrolled,
    following,
    jumpToEnd,
    virtual,
    height: virtual.getTotalSize() - (room - shown.count) * lineHeight,
    lineOf,
    folded,
    toggle: (id) => setFolded((before) => toggled(before, id)),
    topId: () => read.current?.id ?? firstId,
    reveal(id) {
      const command = commandOf(commands, id)
      if (command !== undefined && command.id !== id && folded.has(command.id))
        setFolded((before) => toggled(before, command.id))
      stay()
      setRevealing({ id })
    },
  }
}

/** The keys of rows in this layout. Each new function has all rows placed anew, which takes a while with many. */
function keysOf(
  idOf: (row: number) => number | undefined,
  _layout: readonly unknown[],
): (row: number) => number | string {
  return (row) => idOf(row) ?? `to come ${row}`
}

function toggled(ids: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return next
}
