/** The rows of the terminal: which rows are rendered, which are collapsed, and a scroll position that stays with what is being read. */
import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type RefObject } from 'react'
import { useFollowEnd } from '../../../ui/layout/useFollowEnd.ts'
import { toggled } from '../toggled.ts'
import type { CommandBlock } from './log/commandBlocks.ts'
import { commandOf, type VisibleRows, visibleRows } from './log/visibleRows.ts'
import type { TerminalView } from './log/terminalLog.ts'
import type { TerminalLine } from './log/terminalWriter.ts'
import { useRowSelection } from './useRowSelection.ts'

export type TerminalRowsState = ReturnType<typeof useTerminalRows>

const lineHeight = 20
const commandHeight = 32
const edge = 8
/** Room for up to this many new rows is laid out in advance, because adding rows lays out all of them again. */
const roomFor = 500
/** The height in pixels of the row that offers earlier output. */
const offerHeight = 44

export function useTerminalRows(view: TerminalView, wrap: boolean) {
  const { lines, commands, change, earlier } = view
  const { box, content, following, onScroll, jumpToEnd, stay } = useFollowEnd()
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  const toggle = (id: number) => setFolded((before) => toggled(before, id))
  const firstId = lines[0]?.id ?? 0
  // `lines` and `commands` stay the same arrays when they change; a new `change` means that they changed.
  const rows = useMemo(
    () => (change < 0 ? undefined : visibleRows(firstId, lines.length, commands, folded)),
    [change, firstId, lines, commands, folded],
  )
  if (rows === undefined) throw new Error('Changes count up.')
  const [{ show, lineOf, idOf, rowOf }] = useState(createRowReader)
  show(lines, rows)
  const { virtual, height } = useVirtualRows({
    box,
    commands,
    folded,
    firstId,
    idOf,
    rowLayout: rows,
    selected: useRowSelection(content, idOf),
    paddingStart: earlier === 'none' ? edge : offerHeight,
  })
  // Wrapped lines are measured; known heights are dropped when wrapping begins or ends.
  const wrapped = useRef(wrap)
  useLayoutEffect(() => {
    if (wrapped.current === wrap) return
    wrapped.current = wrap
    virtual.measure()
  })
  useLayoutEffect(() => {
    if (following && change > 0) jumpToEnd()
  }, [change, following, jumpToEnd])
  const read = useReadPosition({
    box,
    virtual,
    idOf,
    rowLayout: rows,
    firstId,
    earlier,
    folded,
    following,
  })

  // A row in collapsed output exists only after its command was expanded, which takes a render. Until then, `revealing` keeps the line to scroll to.
  const [revealing, setRevealing] = useState<{ readonly id: number } | null>(null)
  useEffect(() => {
    if (revealing === null) return
    virtual.scrollToIndex(rowOf(revealing.id), { align: 'center' })
  }, [revealing, rowOf, virtual])

  return {
    box,
    content,
    onScroll() {
      onScroll()
      read.note()
    },
    following,
    jumpToEnd,
    virtual,
    /** The height of all rows together, in pixels. */
    height,
    lineOf,
    folded,
    toggle,
    topId: () => read.id() ?? firstId,
    /** Scrolls to a line, and expands the output that contains it. */
    reveal(id: number) {
      const command = commandOf(commands, id)
      if (command !== undefined && command.id !== id && folded.has(command.id)) toggle(command.id)
      stay()
      setRevealing({ id })
    },
  }
}

type IdOf = (row: number) => number | undefined

/**
 * Makes functions that look up lines and rows of the terminal as it was last rendered. The functions never change, because new functions would make
 * the list lay out all rows again.
 */
function createRowReader() {
  let lines: readonly TerminalLine[] = []
  let rowLayout: VisibleRows | undefined
  const lineOf = (row: number) => (rowLayout === undefined ? undefined : lines[rowLayout.lineAt(row)])
  return {
    show(nextLines: readonly TerminalLine[], nextRows: VisibleRows): void {
      lines = nextLines
      rowLayout = nextRows
    },
    lineOf,
    idOf: (row: number) => lineOf(row)?.id,
    rowOf: (id: number) => rowLayout?.rowOf(id - (lines[0]?.id ?? 0)) ?? 0,
  }
}

interface VirtualRows {
  readonly box: RefObject<HTMLDivElement | null>
  readonly commands: readonly CommandBlock[]
  readonly folded: ReadonlySet<number>
  readonly firstId: number
  readonly idOf: IdOf
  readonly rowLayout: VisibleRows
  /** The ids of selected lines, which stay rendered wherever the box is scrolled to. */
  readonly selected: Iterable<number>
  readonly paddingStart: number
}

function useVirtualRows({
  box,
  commands,
  folded,
  firstId,
  idOf,
  rowLayout,
  selected,
  paddingStart,
}: VirtualRows) {
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
  // All rows are laid out again when their number changes, so the number includes rows that are still to come.
  const room = Math.ceil(rowLayout.count / roomFor) * roomFor
  const virtual = useVirtualizer({
    count: room,
    getScrollElement: () => box.current,
    estimateSize,
    getItemKey,
    overscan: 12,
    paddingStart,
    paddingEnd: edge,
    rangeExtractor: (range) => {
      const rows = new Set(defaultRangeExtractor(range))
      for (const id of selected) if (id >= firstId) rows.add(rowLayout.rowOf(id - firstId))
      return [...rows].filter((row) => row < rowLayout.count).toSorted((one, other) => one - other)
    },
  })
  return { virtual, height: virtual.getTotalSize() - (room - rowLayout.count) * lineHeight }
}

interface ReadPosition {
  readonly box: RefObject<HTMLDivElement | null>
  readonly virtual: Virtualizer<HTMLDivElement, Element>
  readonly idOf: IdOf
  readonly rowLayout: VisibleRows
  readonly firstId: number
  readonly earlier: TerminalView['earlier']
  readonly folded: ReadonlySet<number>
  readonly following: boolean
}

/** Keeps the first visible line where it is when lines above it are added or removed. */
function useReadPosition({
  box,
  virtual,
  idOf,
  rowLayout,
  firstId,
  earlier,
  folded,
  following,
}: ReadPosition) {
  const read = useRef<{ readonly id: number; readonly below: number } | null>(null)
  const note = () => {
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
    const row = rowLayout.rowOf(Math.max(0, read.current.id - firstId))
    const start = virtual.getOffsetForIndex(row, 'start')?.[0]
    if (start !== undefined) scrollTo(view, start + read.current.below)
  }, [firstId, earlier, folded, following, box, rowLayout, virtual])
  return { note, id: () => read.current?.id }
}

function scrollTo(view: HTMLElement, top: number): void {
  view.scrollTop = top
}

/**
 * Makes the function that gives each row its key. A new function makes the list lay out all rows again, which takes a while when there are many. So
 * the caller makes a new one only when a value in `_layout` changes.
 */
function keysOf(idOf: IdOf, _layout: readonly unknown[]): (row: number) => number | string {
  return (row) => idOf(row) ?? `to come ${row}`
}
