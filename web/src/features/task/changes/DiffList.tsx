/**
 * The changed files as one long list of which only the rows in sight are in the page; the head of a file stays above its
 * lines. One line can be reached by Tab; the arrow keys walk from it, with Shift they take lines together.
 */
import { defaultRangeExtractor, useVirtualizer, type Range as Seen } from '@tanstack/react-virtual'
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
} from 'react'
import { useAction } from '../../../actions/ActionsContext.tsx'
import { Button } from '../../../ui/Button.tsx'
import { CommentBox } from './CommentBox.tsx'
import { DiffLineRow } from './DiffLineRow.tsx'
import {
  diffRows,
  hunkStarts,
  linesOf,
  rowHeights,
  widestLine,
  type CommentPlace,
  type DiffRow,
  type KnownLines,
} from './diffRows.ts'
import { FileHead, type FileActions } from './FileHead.tsx'
import type { Match } from './findInDiff.ts'
import { HunkBar } from './HunkBar.tsx'
import { lineKey } from './lineKey.ts'
import type { DiffFile } from './readDiffs.ts'
import { texts } from './texts.ts'
import { useHunkColours } from './useHunkColours.ts'
import { rowsBetween, targetOf, useRange, type CommentTarget } from './useRange.ts'

/** Where to go: a file, or a line in it. Each time another object. */
export interface Destination {
  readonly fileName: string
  readonly key: string | null
}

interface DiffListProps {
  readonly files: readonly DiffFile[]
  readonly split: boolean
  /** Pixels. */
  readonly width: number
  readonly isFolded: (file: DiffFile) => boolean
  readonly viewed: ReadonlySet<string>
  readonly asked: ReadonlySet<string>
  readonly onAsk: (fileName: string) => void
  readonly actions: FileActions
  readonly known: ReadonlyMap<string, KnownLines>
  readonly onShow: (fileName: string, from: number, to: number) => Promise<void>
  readonly wanted: string
  readonly match: Match | null
  readonly goTo: Destination | null
  readonly comment: CommentTarget | null
  /** Whom the comment is for, by the name on the screen. */
  readonly agent: string
  readonly draft: string
  readonly onDraft: (text: string) => void
  readonly onSend: () => void
  readonly onComment: (target: CommentTarget) => void
  readonly onCommentClosed: () => void
  /** The file whose lines are at the top. */
  readonly onCurrent: (fileName: string) => void
  readonly onScrolled: (scrolled: boolean) => void
  /** Whether its keys are keys of the page now. */
  readonly shown: boolean
}

/** Pixels scrolled from which on somebody reads. */
const readingFrom = 40
/** Pixels of a character of the code font, and of the gutter before it. */
const characterWidth = 7.55
const gutterWidth = 112
const halfGutterWidth = 72
/** What stays in sight above a change that is gone to: a head, a bar and some lines. */
const aboveChange = rowHeights.file + rowHeights.bar + 3 * rowHeights.line

export function DiffList(props: DiffListProps) {
  const { files, split, width, isFolded, asked, known, comment, wanted, match, goTo, shown } = props
  const { onCurrent, onScrolled, onComment, onCommentClosed } = props
  const box = useRef<HTMLDivElement>(null)
  const place: CommentPlace | null = useMemo(
    () => (comment === null ? null : { fileName: comment.fileName, lastKey: comment.lastKey }),
    [comment],
  )
  const rows = useMemo(
    () =>
      diffRows(files, {
        isFolded,
        asked,
        split,
        known,
        comment: place,
        onlyWhitespace: texts.onlyWhitespace,
      }),
    [files, isFolded, asked, split, known, place],
  )
  const heads = useMemo(() => rows.flatMap((row, index) => (row.kind === 'file' ? [index] : [])), [rows])
  const widest = useMemo(() => widestLine(files) * characterWidth, [files])
  const coloursOf = useHunkColours()

  const [active, setActive] = useState<string | null>(null)
  const activeIndex = useMemo(() => rows.findIndex(({ id }) => id === active), [rows, active])
  const commentIndex = useMemo(() => rows.findIndex(({ kind }) => kind === 'comment'), [rows])
  const { range, setRange, inRange, ids } = useRange(rows)
  const [pointed, setPointed] = useState<string | null>(null)
  const [focused, setFocused] = useState(false)
  const dragging = useRef(false)

  const rangeExtractor = useCallback(
    (seen: Seen) => {
      const head = heads.findLast((each) => each <= seen.startIndex) ?? 0
      // What has the focus, or is being written, stays in the page, and the head of what is at the top.
      const kept = [head, activeIndex, commentIndex].filter((index) => index !== -1)
      return [...new Set([...kept, ...defaultRangeExtractor(seen)])].toSorted((a, b) => a - b)
    },
    [heads, activeIndex, commentIndex],
  )
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => rowHeights[rows[index]?.kind ?? 'line'],
    getItemKey: useCallback((index: number) => rows[index]?.id ?? index, [rows]),
    // Two sides have twice the nodes.
    overscan: split ? 3 : 6,
    scrollPaddingStart: rowHeights.file,
    rangeExtractor,
  })
  const items = list.getVirtualItems()
  const seen = list.range ?? { startIndex: 0, endIndex: 0 }
  const isSeen = (index: number) => index >= seen.startIndex && index <= seen.endIndex
  // The head of a file covers what is behind it.
  const below = list.getVirtualItemForOffset((list.scrollOffset ?? 0) + rowHeights.file - 1)
  const position = activeIndex !== -1 && isSeen(activeIndex) ? activeIndex : (below?.index ?? 0)
  const startOf = (index: number) => list.measurementsCache[index]?.start ?? 0

  const currentName = rows[heads.findLast((head) => head <= position) ?? 0]?.file.name
  useEffect(() => {
    if (currentName !== undefined) onCurrent(currentName)
  }, [currentName, onCurrent])

  // A row that is to have the focus may come into the page only now.
  const focusWanted = useRef(false)
  useLayoutEffect(() => {
    if (!focusWanted.current || active === null) return
    const row = box.current?.querySelector<HTMLElement>(`[data-row="${active}"]`)
    if (row === null || row === undefined) return
    focusWanted.current = false
    row.focus({ preventScroll: true })
  })
  const focusRow = (index: number) => {
    const row = rows[index]
    if (row === undefined) return
    setActive(row.id)
    focusWanted.current = true
  }

  const scrollTo = (offset: number) => list.scrollToOffset(Math.max(0, offset))
  const goToFile = (head: number) => {
    scrollTo(startOf(head))
    const row = rows[head + 1]
    const line = rows.findIndex((other, index) => index > head && other.kind === 'line')
    if (row !== undefined && line !== -1 && rows[line]?.file === row.file) focusRow(line)
    else setActive(rows[head]?.id ?? null)
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
    setRange(null)
    scrollTo(startOf(next) - aboveChange)
    focusRow(next)
  }
  const commentOn = (id: string, extend: boolean) => {
    const taken =
      range !== null && ids.has(id)
        ? inRange
        : rowsBetween(rows, { anchor: extend ? (active ?? id) : id, head: id })
    const target = targetOf(taken)
    if (target !== null) onComment(target)
    setRange(null)
  }
  const latestComment = useRef(commentOn)
  useEffect(() => {
    latestComment.current = commentOn
  })
  const onRowComment = useCallback((id: string, extend: boolean) => latestComment.current(id, extend), [])

  useAction('nextFile', () => stepFile(1), shown)
  useAction('previousFile', () => stepFile(-1), shown)
  useAction('nextHunk', () => stepHunk(1), shown)
  useAction('previousHunk', () => stepHunk(-1), shown)
  const mayComment = active !== null && rows[activeIndex]?.kind === 'line'
  useAction(
    'commentOnLine',
    () => active !== null && commentOn(active, false),
    shown && focused && mayComment,
  )

  // Where one is sent from elsewhere. Rows of a file that was folded are there by now.
  useLayoutEffect(() => {
    if (goTo === null) return
    const head = rows.findIndex((row) => row.kind === 'file' && row.file.name === goTo.fileName)
    if (head === -1) return
    if (goTo.key === null) {
      scrollTo(startOf(head))
      const first = rows[head + 1]?.file === rows[head]?.file ? head + 1 : head
      return setActive(rows[first]?.id ?? null)
    }
    const line = rows.findIndex(
      (row, index) => index > head && row.kind === 'line' && hasKey(row, goTo.fileName, goTo.key),
    )
    if (line !== -1) list.scrollToIndex(line, { align: 'center' })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- one is sent once, however the rows change later
  }, [goTo])

  const closeComment = () => {
    const line = rows.findIndex(
      (row) => row.kind === 'line' && comment !== null && hasKey(row, comment.fileName, comment.lastKey),
    )
    focusRow(line)
    onCommentClosed()
  }

  /** What stands at the top stays there when the lines below it go. */
  const keepHead = (file: DiffFile) => {
    const head = rows.findIndex((row) => row.kind === 'file' && row.file === file)
    if (startOf(head) < (list.scrollOffset ?? 0)) scrollTo(startOf(head))
  }
  const latestKeep = useRef(keepHead)
  useEffect(() => {
    latestKeep.current = keepHead
  })
  const { onFold, onViewed, onFoldAll, onCopy } = props.actions
  const fold = useCallback(
    (file: DiffFile) => {
      latestKeep.current(file)
      onFold(file)
    },
    [onFold],
  )
  const tick = useCallback(
    (file: DiffFile, viewed: boolean) => {
      latestKeep.current(file)
      onViewed(file, viewed)
    },
    [onViewed],
  )

  const onKeyDown = (event: KeyboardEvent) => {
    if (rowOf(event.target, true) === null || event.ctrlKey || event.metaKey || event.altKey) return
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by !== undefined) {
      const next =
        by === 1
          ? rows.findIndex((row, index) => index > activeIndex && row.kind === 'line')
          : rows.findLastIndex((row, index) => index < activeIndex && row.kind === 'line')
      const row = rows[next]
      if (row === undefined || active === null) return
      if (event.shiftKey && row.file.name !== rows[activeIndex]?.file.name) return
      setRange(event.shiftKey ? { anchor: range?.anchor ?? active, head: row.id } : null)
      list.scrollToIndex(next, { align: 'auto' })
      focusRow(next)
    } else if (event.key === 'Enter' && active !== null) commentOn(active, false)
    else if (event.key === 'Escape' && range !== null) setRange(null)
    else return
    event.preventDefault()
  }
  const onPointerDown = (event: PointerEvent) => {
    const id = rowOf(event.target)
    if (id === null) return
    if (isAdd(event.target)) {
      // Of lines that were taken together it is the button of all of them.
      if (ids.size > 1 && ids.has(id)) return
      dragging.current = !event.shiftKey
      if (!event.shiftKey) setRange({ anchor: id, head: id })
    } else if (event.shiftKey && active !== null) {
      event.preventDefault()
      setRange({ anchor: range?.anchor ?? active, head: id })
    } else setRange(null)
  }
  const onPointerMove = (event: PointerEvent) => {
    if (event.pointerType === 'touch') return
    const id = rowOf(event.target)
    setPointed(id)
    if (!dragging.current) return
    if (event.buttons === 0) dragging.current = false
    else if (id !== null) setRange((before) => (before === null ? null : { ...before, head: id }))
  }
  const onPointerUp = () => {
    if (!dragging.current) return
    dragging.current = false
    // Let go where it began, it is a click on the button.
    if (range !== null && range.head !== range.anchor) commentOn(range.head, false)
  }

  const firstLine = items.find(({ index }) => index >= seen.startIndex && rows[index]?.kind === 'line')?.index
  const reachable = rows[activeIndex]?.kind === 'line' ? activeIndex : firstLine
  const half = width / 2
  const wide = split
    ? { width: `calc(100% + ${Math.max(0, Math.ceil(widest + halfGutterWidth - half))}px)` }
    : { width: Math.ceil(widest + gutterWidth) }
  const draw = (row: DiffRow, index: number): ReactNode => {
    switch (row.kind) {
      case 'file':
        return (
          <FileHead
            file={row.file}
            folded={row.folded}
            viewed={props.viewed.has(row.file.hash)}
            onFold={fold}
            onViewed={tick}
            onFoldAll={onFoldAll}
            onCopy={onCopy}
          />
        )
      case 'bar':
        return <HunkBar row={row} onShow={props.onShow} />
      case 'note':
        return <p className="sticky left-0 w-[100cqw] px-4 py-2.5 text-ui text-muted">{row.text}</p>
      case 'large':
        return (
          <p className="sticky left-0 flex w-[100cqw] flex-wrap items-center gap-3 px-4 py-2.5 text-ui text-muted">
            {texts.large(row.file.lines)}
            <Button size="small" onClick={() => props.onAsk(row.file.name)}>
              {texts.showLarge}
            </Button>
          </p>
        )
      case 'comment':
        return (
          comment && (
            <CommentBox
              fileName={comment.fileName}
              lines={comment.lines}
              agent={props.agent}
              text={props.draft}
              onText={props.onDraft}
              onSend={() => {
                props.onSend()
                closeComment()
              }}
              onCancel={closeComment}
            />
          )
        )
      case 'line': {
        const { left, right, file } = row
        const isSelected =
          ids.has(row.id) ||
          (comment !== null &&
            comment.fileName === file.name &&
            linesOf(row).some((line) => comment.keys.has(lineKey(line))))
        return (
          <DiffLineRow
            row={row}
            split={split}
            leftSpans={left === null ? null : coloursOf(file.name, left.hunk, left.index)}
            rightSpans={right === null ? null : coloursOf(file.name, right.hunk, right.index)}
            wanted={wanted}
            currentKey={match !== null && hasKey(row, match.fileName, match.key) ? match.key : null}
            currentNth={match?.nth ?? 0}
            selected={isSelected}
            reachable={index === reachable}
            mayComment={row.id === pointed || (focused && row.id === active)}
            onComment={onRowComment}
          />
        )
      }
    }
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it stands in for its rows, of which there may be thousands
    <div
      ref={box}
      role="region"
      aria-label={texts.diff}
      onScroll={(event) => {
        onScrolled(event.currentTarget.scrollTop > readingFrom)
        if (split) event.currentTarget.style.setProperty('--scrolled', `${event.currentTarget.scrollLeft}px`)
      }}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        const id = rowOf(event.target, true)
        setFocused(true)
        if (id !== null) setActive(id)
      }}
      onBlur={() => setFocused(false)}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerLeave={() => setPointed(null)}
      className="focus-inset @container min-h-0 flex-1 overflow-auto overscroll-contain"
    >
      <div className="relative min-w-full" style={{ height: list.getTotalSize(), ...wide }}>
        {items.map(({ index, start, size }) => {
          const row = rows[index]
          if (row === undefined) return null
          if (row.kind === 'file') {
            const next = heads.find((head) => head > index)
            const end = next === undefined ? list.getTotalSize() : startOf(next)
            return (
              // As high as the file: its head stays above its lines, and the next one pushes it away.
              <div
                key={row.id}
                data-index={index}
                className="pointer-events-none absolute left-0 z-10 w-full"
                // Not moved by a transform: what is sticky does not count it.
                style={{ height: end - start, top: start }}
              >
                <div className="pointer-events-auto sticky top-0">{draw(row, index)}</div>
              </div>
            )
          }
          const isMeasured = row.kind === 'note' || row.kind === 'comment' || row.kind === 'large'
          return (
            <div
              key={row.id}
              data-index={index}
              ref={isMeasured ? list.measureElement : undefined}
              className="absolute top-0 left-0 w-full"
              style={{ ...(isMeasured ? {} : { height: size }), transform: `translateY(${start}px)` }}
            >
              {draw(row, index)}
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** The row that something on the page belongs to, or is when `itself`. */
function rowOf(target: EventTarget, itself = false): string | null {
  if (!(target instanceof HTMLElement || target instanceof SVGElement)) return null
  const row = itself ? target : target.closest<HTMLElement>('[data-row]')
  return row?.dataset['row'] ?? null
}

function isAdd(target: EventTarget): boolean {
  return target instanceof Element && target.closest('[data-add]') !== null
}

function hasKey(row: DiffRow, fileName: string, key: string | null): boolean {
  return (
    row.kind === 'line' && row.file.name === fileName && linesOf(row).some((line) => lineKey(line) === key)
  )
}
