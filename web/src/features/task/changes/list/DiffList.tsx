/**
 * The changed files as one long list of which only visible rows are rendered; the head of a file stays above its lines. Tab reaches one
 * line: the arrow keys move between lines, and with Shift they select.
 */
import {
  type ComponentType,
  lazy,
  type KeyboardEvent,
  type ReactNode,
  Suspense,
  useEffect,
  useMemo,
  useRef,
} from 'react'
import { useAction } from '../../../../actions/ActionsContext.tsx'
import { Button } from '../../../../ui/form/Button.tsx'
import { useStable } from '../../../../ui/hooks.ts'
import {
  type CommentPlace,
  type DiffRow,
  diffRows,
  hasKey,
  type LineRow,
  linesOf,
  widestLine,
} from '../diff/diffRows.ts'
import type { Match } from '../diff/findInDiff.ts'
import { lineKey } from '../diff/parseDiff.ts'
import type { DiffFile } from '../diff/readDiffs.ts'
import type { CommentBoxProps } from '../CommentBox.tsx'
import { texts } from '../texts.ts'
import type { Comment } from '../useComment.ts'
import type { Folds, Viewed } from '../useFileMarks.ts'
import { DiffLineRow } from './DiffLineRow.tsx'
import { FileHead } from './FileHead.tsx'
import { HunkBar } from './HunkBar.tsx'
import { type ActiveRow, rowIdOf, useActiveRow } from './useActiveRow.ts'
import { useHunkColours } from './useHunkColours.ts'
import type { KnownLinesOfFiles } from './useKnownLines.ts'
import { useLineOrigin } from './useLineOrigin.tsx'
import { type LineSelection, useLineSelection } from './useLineSelection.ts'
import { type RowWindow, useRowWindow } from './useRowWindow.ts'
import { type Destination, useRowNavigation } from './useRowNavigation.ts'

interface DiffListProps {
  readonly files: readonly DiffFile[]
  readonly split: boolean
  readonly width: number
  readonly folds: Folds
  readonly viewed: Viewed
  readonly known: KnownLinesOfFiles
  readonly needle: string
  readonly match: Match | null
  readonly goTo: Destination | null
  readonly comment: Comment
  /** The displayed name of the agent that gets the comment. */
  readonly agent: string
  readonly onSend: (message: string) => void
  readonly onCurrent: (fileName: string) => void
  readonly onScrolled: (scrolled: boolean) => void
  readonly visible: boolean
}

/** Somebody who has scrolled more than this many pixels counts as reading. */
const readingFrom = 40
/** Widths in pixels: of a character in the code font, of the gutter, and of the gutter of one side in the side-by-side view. */
const characterWidth = 7.55
const gutterWidth = 112
const halfGutterWidth = 72

export function DiffList(props: DiffListProps) {
  const { files, split, width, folds, goTo, comment, visible, onCurrent, onScrolled } = props
  const box = useRef<HTMLDivElement>(null)
  const { rows, heads, commentIndex, place } = useRows(props)
  const active = useActiveRow(rows, box)
  const selection = useLineSelection(rows, active, comment.open)
  const view = useRowWindow({ rows, heads, split, box, active: active.index, comment: commentIndex })
  const travel = useRowNavigation({
    rows,
    heads,
    view,
    active,
    goTo,
    visible,
    onLeave: selection.clear,
  })
  const origin = useLineOrigin(rows, active, box, visible)
  const { list, items, position } = view
  useCommentInSight(list, commentIndex, place, comment.text)

  const currentName = rows[heads.findLast((head) => head <= position) ?? 0]?.file.name
  useEffect(() => void loadCommentBox().catch(() => undefined), [])
  useEffect(() => {
    if (currentName !== undefined) onCurrent(currentName)
  }, [currentName, onCurrent])

  const isOnLine = rows[active.index]?.kind === 'line'
  const commentHere = () => active.id !== null && selection.commentOn(active.id, false)
  useAction('commentOnLine', commentHere, visible && active.focused && isOnLine)
  const onKeyDown = keyHandler({ rows, active, selection, travel })
  const closeComment = () => {
    const { target } = comment
    active.focus(rows.find((row) => target !== null && hasKey(row, target.fileName, target.lastKey)))
    comment.close()
  }
  const drawing: Drawing = {
    ...props,
    ...useFileActions({ rows, view, files, folds, viewed: props.viewed }),
    active,
    selection,
    coloursOf: useHunkColours(),
    reachable: isOnLine ? active.index : view.firstLine,
    onComment: useStable(selection.commentOn),
    onCloseComment: closeComment,
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
      onClick={origin.onClick}
      {...active.handlers}
      {...selection.handlers}
      className="focus-inset @container min-h-0 flex-1 overflow-auto overscroll-contain"
    >
      <div
        className="relative min-w-full"
        style={{ height: list.getTotalSize(), ...useListWidth(files, split, width) }}
      >
        {items.map((item) => {
          const row = rows[item.index]
          if (row === undefined) return null
          return (
            <Placed key={row.id} row={row} item={item} view={view}>
              {rowOf(row, item.index, drawing)}
            </Placed>
          )
        })}
      </div>
      {origin.popover}
    </div>
  )
}

function useRows({ files, split, folds, known, comment }: DiffListProps) {
  const { isFolded, requested } = folds
  const { target } = comment
  const place: CommentPlace | null = useMemo(
    () => (target === null ? null : { fileName: target.fileName, lastKey: target.lastKey }),
    [target],
  )
  const rows = useMemo(
    () =>
      diffRows(files, {
        isFolded,
        requested,
        split,
        known: known.known,
        comment: place,
        onlyWhitespace: texts.onlyWhitespace,
      }),
    [files, isFolded, requested, split, known.known, place],
  )
  const heads = useMemo(() => rows.flatMap((row, index) => (row.kind === 'file' ? [index] : [])), [rows])
  const commentIndex = useMemo(() => rows.findIndex(({ kind }) => kind === 'comment'), [rows])
  return { rows, heads, commentIndex, place }
}

/** Keeps the comment box in view: when it opens, as it grows, and while somebody types. */
function useCommentInSight(
  list: RowWindow['list'],
  commentIndex: number,
  place: CommentPlace | null,
  text: string,
): void {
  const size = list.measurementsCache[commentIndex]?.size
  useEffect(() => {
    if (commentIndex !== -1) list.scrollToIndex(commentIndex, { align: 'auto' })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- scrolling, or changes of other lines, must not bring the box back into view
  }, [place, size, text])
}

interface FileActionsOf extends Pick<DiffListProps, 'files' | 'folds' | 'viewed'> {
  readonly rows: readonly DiffRow[]
  readonly view: RowWindow
}

function useFileActions({ rows, view, files, folds, viewed }: FileActionsOf) {
  /** Keeps the head in place at the top when the lines below it are collapsed. */
  const keepHead = (file: DiffFile) => {
    const head = rows.findIndex((row) => row.kind === 'file' && row.file === file)
    const start = view.startOf(head)
    if (start < (view.list.scrollOffset ?? 0)) view.scrollTo(start)
  }
  const onFold = useStable((file: DiffFile) => {
    keepHead(file)
    folds.fold(file.name, !folds.isFolded(file))
  })
  const onFoldAll = useStable((folded: boolean) => folds.foldAll(files, folded))
  const onViewed = useStable((file: DiffFile, isViewed: boolean) => {
    keepHead(file)
    folds.fold(file.name, null)
    viewed.setViewed(file.hash, isViewed)
  })
  return { onFold, onFoldAll, onViewed }
}

interface KeysIn {
  readonly rows: readonly DiffRow[]
  readonly active: ActiveRow
  readonly selection: LineSelection
  readonly travel: ReturnType<typeof useRowNavigation>
}

function keyHandler({ rows, active, selection, travel }: KeysIn) {
  const walk = (by: 1 | -1, extend: boolean) => {
    const next = travel.lineBeside(by)
    const row = rows[next]
    if (row === undefined || active.id === null) return
    if (extend && row.file.name !== rows[active.index]?.file.name) return
    if (extend) selection.extendTo(row.id)
    else selection.clear()
    travel.walkTo(next)
  }
  return (event: KeyboardEvent) => {
    if (rowIdOf(event.target, 'itself') === null || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'ArrowDown') walk(1, event.shiftKey)
    else if (event.key === 'ArrowUp') walk(-1, event.shiftKey)
    else if (event.key === 'Enter' && active.id !== null) selection.commentOn(active.id, false)
    else if (event.key === 'Escape' && selection.hasSelection) selection.clear()
    else return
    event.preventDefault()
  }
}

/** The style that makes the list as wide as its longest line. */
function useListWidth(files: readonly DiffFile[], split: boolean, width: number) {
  const widest = useMemo(() => widestLine(files) * characterWidth, [files])
  return split
    ? { width: `calc(100% + ${Math.max(0, Math.ceil(widest + halfGutterWidth - width / 2))}px)` }
    : { width: Math.ceil(widest + gutterWidth) }
}

interface PlacedProps {
  readonly row: DiffRow
  readonly item: RowWindow['items'][number]
  readonly view: RowWindow
  readonly children: ReactNode
}

function Placed({ row, item: { index, start, size }, view, children }: PlacedProps) {
  if (row.kind === 'file') {
    return (
      // This element is as high as the file, so that the file's head stays above its lines until the next head pushes it away.
      <div
        data-index={index}
        className="pointer-events-none absolute left-0 z-10 w-full"
        // Positioned by `top`, because `sticky` ignores transforms.
        style={{ height: view.endOfFile(index) - start, top: start }}
      >
        <div className="pointer-events-auto sticky top-0">{children}</div>
      </div>
    )
  }
  const isMeasured = row.kind === 'note' || row.kind === 'comment' || row.kind === 'large'
  return (
    <div
      data-index={index}
      ref={isMeasured ? view.list.measureElement : undefined}
      // The row is raised above the next one, because the button of a line is a little higher than the line.
      className="absolute top-0 left-0 w-full has-data-add:z-1"
      style={{ ...(isMeasured ? {} : { height: size }), transform: `translateY(${start}px)` }}
    >
      {children}
    </div>
  )
}

interface Drawing extends DiffListProps, ReturnType<typeof useFileActions> {
  readonly active: ActiveRow
  readonly selection: LineSelection
  readonly coloursOf: ReturnType<typeof useHunkColours>
  readonly reachable: number | undefined
  readonly onComment: (id: string, extend: boolean) => void
  readonly onCloseComment: () => void
}

function rowOf(row: DiffRow, index: number, drawing: Drawing): ReactNode {
  switch (row.kind) {
    case 'file':
      return (
        <FileHead
          file={row.file}
          folded={row.folded}
          viewed={drawing.viewed.viewed.has(row.file.hash)}
          onFold={drawing.onFold}
          onFoldAll={drawing.onFoldAll}
          onViewed={drawing.onViewed}
        />
      )
    case 'bar':
      return <HunkBar row={row} onShow={drawing.known.show} />
    case 'note':
      return <p className="sticky left-0 w-[100cqw] px-4 py-2.5 text-ui text-muted">{row.text}</p>
    case 'large':
      return (
        <p className="sticky left-0 flex w-[100cqw] flex-wrap items-center gap-3 px-4 py-2.5 text-ui text-muted">
          {texts.large(row.file.lines)}
          <Button size="small" onClick={() => drawing.folds.request(row.file.name)}>
            {texts.showLarge}
          </Button>
        </p>
      )
    case 'comment':
      return commentOf(drawing)
    case 'line':
      return lineOf(row, index, drawing)
  }
}

/** The comment box, once its chunk is loaded. It is then rendered without `lazy`, which would lose the first keys that somebody types. */
let loadedCommentBox: ComponentType<CommentBoxProps> | undefined
async function loadCommentBox() {
  const { CommentBox } = await import('../CommentBox.tsx')
  loadedCommentBox = CommentBox
  return { default: CommentBox }
}
const LazyCommentBox = lazy(loadCommentBox)

function commentOf({ comment, agent, onSend, onCloseComment }: Drawing): ReactNode {
  if (comment.target === null) return null
  const CommentBox = loadedCommentBox ?? LazyCommentBox
  return (
    <Suspense fallback={null}>
      <CommentBox
        fileName={comment.target.fileName}
        lines={comment.target.lines}
        agent={agent}
        text={comment.text}
        onText={comment.write}
        onSend={(message) => {
          onSend(message)
          onCloseComment()
        }}
        onCancel={onCloseComment}
      />
    </Suspense>
  )
}

function lineOf(row: LineRow, index: number, drawing: Drawing): ReactNode {
  const { left, right, file } = row
  const { split, coloursOf, needle, match, selection, active, comment } = drawing
  return (
    <DiffLineRow
      row={row}
      split={split}
      leftSpans={left === null ? null : coloursOf(file.name, left.hunk, left.index)}
      rightSpans={right === null ? null : coloursOf(file.name, right.hunk, right.index)}
      needle={needle}
      currentKey={match !== null && hasKey(row, match.fileName, match.key) ? match.key : null}
      currentNth={match?.nth ?? 0}
      selected={selection.ids.has(row.id) || isCommented(row, comment)}
      reachable={index === drawing.reachable}
      mayComment={row.id === selection.pointed || (active.focused && row.id === active.id)}
      onComment={drawing.onComment}
    />
  )
}

function isCommented(row: LineRow, { target }: Comment): boolean {
  return (
    target !== null &&
    target.fileName === row.file.name &&
    linesOf(row).some((line) => target.keys.has(lineKey(line)))
  )
}
