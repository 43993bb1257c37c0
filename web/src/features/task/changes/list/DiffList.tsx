/**
 * The changed files as one long list of which only the rows in sight are in the page; the head of a file stays above its
 * lines. One line can be reached by Tab; the arrow keys walk from it, with Shift they take lines together.
 */
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from 'react'
import { useAction } from '../../../../actions/ActionsContext.tsx'
import { Button } from '../../../../ui/form/Button.tsx'
import { useStable } from '../../../../ui/hooks.ts'
import { CommentBox } from '../CommentBox.tsx'
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
import { texts } from '../texts.ts'
import type { Comment } from '../useComment.ts'
import type { Folds, Viewed } from '../useFileMarks.ts'
import { DiffLineRow } from './DiffLineRow.tsx'
import { FileHead } from './FileHead.tsx'
import { HunkBar } from './HunkBar.tsx'
import { rowIdOf, useActiveRow } from './useActiveRow.ts'
import { useHunkColours } from './useHunkColours.ts'
import type { KnownLinesOfFiles } from './useKnownLines.ts'
import { useLineSelection } from './useLineSelection.ts'
import { useRowWindow } from './useRowWindow.ts'
import { type Destination, useRowNavigation } from './useRowNavigation.ts'

interface DiffListProps {
  readonly files: readonly DiffFile[]
  readonly split: boolean
  /** Pixels. */
  readonly width: number
  readonly folds: Folds
  readonly viewed: Viewed
  readonly known: KnownLinesOfFiles
  /** What is looked for, and the place that is looked at. */
  readonly sought: string
  readonly match: Match | null
  readonly goTo: Destination | null
  readonly comment: Comment
  /** Whom the comment is for, by the name on the screen. */
  readonly agent: string
  readonly onSend: () => void
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

export function DiffList(props: DiffListProps) {
  const { files, split, width, folds, viewed, known, sought, match, goTo, comment, shown } = props
  const { onCurrent, onScrolled } = props
  const { target } = comment
  const box = useRef<HTMLDivElement>(null)
  const place: CommentPlace | null = useMemo(
    () => (target === null ? null : { fileName: target.fileName, lastKey: target.lastKey }),
    [target],
  )
  const { isFolded, asked } = folds
  const rows = useMemo(
    () =>
      diffRows(files, {
        isFolded,
        asked,
        split,
        known: known.known,
        comment: place,
        onlyWhitespace: texts.onlyWhitespace,
      }),
    [files, isFolded, asked, split, known.known, place],
  )
  const heads = useMemo(() => rows.flatMap((row, index) => (row.kind === 'file' ? [index] : [])), [rows])
  const commentIndex = useMemo(() => rows.findIndex(({ kind }) => kind === 'comment'), [rows])
  const coloursOf = useHunkColours()
  const active = useActiveRow(rows, box)
  const selection = useLineSelection(rows, active, comment.open)
  const view = useRowWindow({ rows, heads, split, box, active: active.index, comment: commentIndex })
  const travel = useRowNavigation({ rows, heads, view, active, goTo, shown, onLeave: selection.clear })
  const { list, items, position, startOf } = view

  const commentSize = list.measurementsCache[commentIndex]?.size
  // Where it is written stays in sight, with its buttons: when it opens, as it grows, and while it is typed in.
  useEffect(() => {
    if (commentIndex !== -1) list.scrollToIndex(commentIndex, { align: 'auto' })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- what is scrolled away by hand, or moved by other lines, stays there
  }, [place, commentSize, comment.text])

  const currentName = rows[heads.findLast((head) => head <= position) ?? 0]?.file.name
  useEffect(() => {
    if (currentName !== undefined) onCurrent(currentName)
  }, [currentName, onCurrent])

  const isOnLine = rows[active.index]?.kind === 'line'
  useAction(
    'commentOnLine',
    () => active.id !== null && selection.commentOn(active.id, false),
    shown && active.focused && isOnLine,
  )
  const onRowComment = useStable(selection.commentOn)
  const closeComment = () => {
    active.focus(rows.find((row) => target !== null && hasKey(row, target.fileName, target.lastKey)))
    comment.close()
  }

  /** What stands at the top stays there when the lines below it go. */
  const keepHead = (file: DiffFile) => {
    const head = rows.findIndex((row) => row.kind === 'file' && row.file === file)
    if (startOf(head) < (list.scrollOffset ?? 0)) view.scrollTo(startOf(head))
  }
  const onFold = useStable((file: DiffFile) => {
    keepHead(file)
    folds.fold(file.name, !isFolded(file))
  })
  const onFoldAll = useStable((folded: boolean) => folds.foldAll(files, folded))
  const onViewed = useStable((file: DiffFile, isViewed: boolean) => {
    keepHead(file)
    folds.fold(file.name, null)
    viewed.setViewed(file.hash, isViewed)
  })

  const walk = (by: 1 | -1, extend: boolean) => {
    const next = travel.lineBeside(by)
    const row = rows[next]
    if (row === undefined || active.id === null) return
    if (extend && row.file.name !== rows[active.index]?.file.name) return
    if (extend) selection.extendTo(row.id)
    else selection.clear()
    travel.walkTo(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (rowIdOf(event.target, 'itself') === null || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'ArrowDown') walk(1, event.shiftKey)
    else if (event.key === 'ArrowUp') walk(-1, event.shiftKey)
    else if (event.key === 'Enter' && active.id !== null) selection.commentOn(active.id, false)
    else if (event.key === 'Escape' && selection.taken) selection.clear()
    else return
    event.preventDefault()
  }

  const reachable = isOnLine ? active.index : view.firstLine
  const isCommented = (row: LineRow) =>
    target !== null &&
    target.fileName === row.file.name &&
    linesOf(row).some((line) => target.keys.has(lineKey(line)))
  const draw = (row: DiffRow, index: number): ReactNode => {
    switch (row.kind) {
      case 'file':
        return (
          <FileHead
            file={row.file}
            folded={row.folded}
            viewed={viewed.viewed.has(row.file.hash)}
            onFold={onFold}
            onFoldAll={onFoldAll}
            onViewed={onViewed}
          />
        )
      case 'bar':
        return <HunkBar row={row} onShow={known.show} />
      case 'note':
        return <p className="sticky left-0 w-[100cqw] px-4 py-2.5 text-ui text-muted">{row.text}</p>
      case 'large':
        return (
          <p className="sticky left-0 flex w-[100cqw] flex-wrap items-center gap-3 px-4 py-2.5 text-ui text-muted">
            {texts.large(row.file.lines)}
            <Button size="small" onClick={() => folds.ask(row.file.name)}>
              {texts.showLarge}
            </Button>
          </p>
        )
      case 'comment':
        return (
          target && (
            <CommentBox
              fileName={target.fileName}
              lines={target.lines}
              agent={props.agent}
              text={comment.text}
              onText={comment.write}
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
        return (
          <DiffLineRow
            row={row}
            split={split}
            leftSpans={left === null ? null : coloursOf(file.name, left.hunk, left.index)}
            rightSpans={right === null ? null : coloursOf(file.name, right.hunk, right.index)}
            wanted={sought}
            currentKey={match !== null && hasKey(row, match.fileName, match.key) ? match.key : null}
            currentNth={match?.nth ?? 0}
            selected={selection.ids.has(row.id) || isCommented(row)}
            reachable={index === reachable}
            mayComment={row.id === selection.pointed || (active.focused && row.id === active.id)}
            onComment={onRowComment}
          />
        )
      }
    }
  }

  const widest = useMemo(() => widestLine(files) * characterWidth, [files])
  const wide = split
    ? { width: `calc(100% + ${Math.max(0, Math.ceil(widest + halfGutterWidth - width / 2))}px)` }
    : { width: Math.ceil(widest + gutterWidth) }

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
      {...active.handlers}
      {...selection.handlers}
      className="focus-inset @container min-h-0 flex-1 overflow-auto overscroll-contain"
    >
      <div className="relative min-w-full" style={{ height: list.getTotalSize(), ...wide }}>
        {items.map(({ index, start, size }) => {
          const row = rows[index]
          if (row === undefined) return null
          if (row.kind === 'file') {
            return (
              // As high as the file: its head stays above its lines, and the next one pushes it away.
              <div
                key={row.id}
                data-index={index}
                className="pointer-events-none absolute left-0 z-10 w-full"
                // Not moved by a transform: what is sticky does not count it.
                style={{ height: view.endOfFile(index) - start, top: start }}
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
