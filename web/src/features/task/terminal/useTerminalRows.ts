/** Which lines are in sight: the rows, what is folded, and a scroll position that stays with what is read. */
import { defaultRangeExtractor, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type RefObject } from 'react'
import { useFollowEnd } from '../../../ui/layout/useFollowEnd.ts'
import type { CommandBlock } from './log/commandBlocks.ts'
import { commandOf, type ShownRows, shownRows } from './log/shownRows.ts'
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
/** Rows that come at the end before all are placed again. */
const roomFor = 500
/** The row that offers earlier output. */
const offerHeight = 44

export function useTerminalRows(view: TerminalView, wrap: boolean): TerminalRowsState {
  const { lines, commands, change, earlier } = view
  const { box, content, following, onScroll, jumpToEnd, stay } = useFollowEnd()
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set())
  const toggle = (id: number) => setFolded((before) => toggled(before, id))
  const firstId = lines[0]?.id ?? 0
  // The arrays stay the same while they change: `change` tells.
  const shown = useMemo(
    () => (change < 0 ? undefined : shownRows(firstId, lines.length, commands, folded)),
    [change, firstId, lines, commands, folded],
  )
  if (shown === undefined) throw new Error('Changes count up.')
  const [{ show, lineOf, idOf, rowOf }] = useState(createRowReader)
  show(lines, shown)
  const { virtual, height } = useVirtualRows({
    box,
    commands,
    folded,
    firstId,
    idOf,
    shown,
    selected: useRowSelection(content, idOf),
    paddingStart: earlier === 'none' ? edge : offerHeight,
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
  const read = useReadPosition({ box, virtual, idOf, shown, firstId, earlier, folded, following })

  // A row that was folded exists once its command is unfolded.
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
    height,
    lineOf,
    folded,
    toggle,
    topId: () => read.id() ?? firstId,
    reveal(id) {
      const command = commandOf(commands, id)
      if (command !== undefined && command.id !== id && folded.has(command.id)) toggle(command.id)
      stay()
      setRevealing({ id })
    },
  }
}

type IdOf = (row: number) => number | undefined

/** Finds lines and rows in what was shown last. Its functions stay the same: with new ones all rows would be placed again. */
function createRowReader() {
  let lines: readonly TerminalLine[] = []
  let shown: ShownRows | undefined
  const lineOf = (row: number) => (shown === undefined ? undefined : lines[shown.lineAt(row)])
  return {
    show(nextLines: readonly TerminalLine[], nextShown: ShownRows): void {
      lines = nextLines
      shown = nextShown
    },
    lineOf,
    idOf: (row: number) => lineOf(row)?.id,
    rowOf: (id: number) => shown?.rowOf(id - (lines[0]?.id ?? 0)) ?? 0,
  }
}

interface VirtualRows {
  readonly box: RefObject<HTMLDivElement | null>
  readonly commands: readonly CommandBlock[]
  readonly folded: ReadonlySet<number>
  readonly firstId: number
  readonly idOf: IdOf
  readonly shown: ShownRows
  /** Ids of selected lines: they stay in the page wherever it is scrolled to. */
  readonly selected: Iterable<number>
  readonly paddingStart: number
}

function useVirtualRows({
  box,
  commands,
  folded,
  firstId,
  idOf,
  shown,
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
  // All rows are placed again when their number changes: so there is room for some that are still to come.
  const room = Math.ceil(shown.count / roomFor) * roomFor
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
      for (const id of selected) if (id >= firstId) rows.add(shown.rowOf(id - firstId))
      return [...rows].filter((row) => row < shown.count).toSorted((one, other) => one - other)
    },
  })
  return { virtual, height: virtual.getTotalSize() - (room - shown.count) * lineHeight }
}

interface ReadPosition {
  readonly box: RefObject<HTMLDivElement | null>
  readonly virtual: Virtualizer<HTMLDivElement, Element>
  readonly idOf: IdOf
  readonly shown: ShownRows
  readonly firstId: number
  readonly earlier: TerminalView['earlier']
  readonly folded: ReadonlySet<number>
  readonly following: boolean
}

/** Keeps the first line in sight where it is when lines above it come or go. */
function useReadPosition({ box, virtual, idOf, shown, firstId, earlier, folded, following }: ReadPosition) {
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
    const row = shown.rowOf(Math.max(0, read.current.id - firstId))
    const start = virtual.getOffsetForIndex(row, 'start')?.[0]
    if (start !== undefined) scrollTo(view, start + read.current.below)
  }, [firstId, earlier, folded, following, box, shown, virtual])
  return { note, id: () => read.current?.id }
}

function scrollTo(view: HTMLElement, top: number): void {
  view.scrollTop = top
}

/** The keys of rows in this layout. Each new function has all rows placed again, which takes a while with many. */
function keysOf(idOf: IdOf, _layout: readonly unknown[]): (row: number) => number | string {
  return (row) => idOf(row) ?? `to come ${row}`
}

function toggled(ids: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return next
}
