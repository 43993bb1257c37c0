/** The changed files as one long list of which only the rows in sight are in the page; the head of a file stays above its lines. */
import { defaultRangeExtractor, useVirtualizer, type Range } from '@tanstack/react-virtual'
import { useCallback, useMemo, useRef, useState } from 'react'
import type { ChangedFile } from '#domain/api/tasks.ts'
import { DiffLineRow } from './DiffLineRow.tsx'
import { diffRows, readDiffs, rowHeights, widestLine } from './diffRows.ts'
import { FileHead } from './FileHead.tsx'
import { FileTree } from './FileTree.tsx'
import { useHunkColours } from './useHunkColours.ts'
import { texts } from './texts.ts'

interface DiffViewProps {
  readonly files: readonly ChangedFile[]
  /** Told whether somebody reads further down: then nothing may move. */
  readonly onReading: (reading: boolean) => void
}

/** Pixels scrolled from which on somebody reads. */
const readingFrom = 40
/** Pixels of a character of the code font, and of the gutter before it. */
const characterWidth = 7.55
const gutterWidth = 112

export function DiffView({ files, onReading }: DiffViewProps) {
  const box = useRef<HTMLDivElement>(null)
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const hunks = useMemo(() => readDiffs(files), [files])
  const rows = useMemo(() => diffRows(files, hunks, folded), [files, hunks, folded])
  const heads = useMemo(() => rows.flatMap((row, index) => (row.kind === 'file' ? [index] : [])), [rows])
  const width = useMemo(() => Math.ceil(widestLine(hunks) * characterWidth + gutterWidth), [hunks])
  const coloursOf = useHunkColours()

  /** The head of the file whose lines are at the top. */
  const current = useRef(0)
  const rangeExtractor = useCallback(
    (range: Range) => {
      current.current = heads.findLast((head) => head <= range.startIndex) ?? 0
      return [...new Set([current.current, ...defaultRangeExtractor(range)])].toSorted((a, b) => a - b)
    },
    [heads],
  )
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => rowHeights[rows[index]?.kind ?? 'line'],
    overscan: 20,
    rangeExtractor,
  })
  const toggle = (name: string) => {
    const next = new Set(folded)
    if (!next.delete(name)) next.add(name)
    setFolded(next)
    // Heights belong to rows that are others now.
    list.measure()
  }

  return (
    <div className="grid min-h-0 flex-1 xl:grid-cols-[232px_minmax(0,1fr)]">
      <FileTree
        files={files}
        onChoose={(name) => {
          const index = rows.findIndex((row) => row.kind === 'file' && row.file.fileName === name)
          if (index !== -1) list.scrollToIndex(index, { align: 'start' })
        }}
      />
      <div
        ref={box}
        role="region"
        aria-label={texts.diff}
        tabIndex={0}
        onScroll={() => onReading((box.current?.scrollTop ?? 0) > readingFrom)}
        className="focus-inset @container min-h-0 overflow-auto overscroll-contain"
      >
        <div className="relative min-w-full" style={{ height: list.getTotalSize(), width }}>
          {list.getVirtualItems().map(({ index, start, size }) => {
            const row = rows[index]
            if (row === undefined) return null
            const isCurrentHead = index === current.current
            return (
              <div
                key={index}
                className={isCurrentHead ? 'sticky top-0 z-10' : 'absolute top-0 left-0 w-full'}
                style={
                  isCurrentHead ? { height: size } : { height: size, transform: `translateY(${start}px)` }
                }
              >
                {row.kind === 'file' ? (
                  <FileHead file={row.file} folded={row.folded} onToggle={() => toggle(row.file.fileName)} />
                ) : row.kind === 'hunk' ? (
                  <div className="h-7 bg-raised pl-25 font-mono text-meta/7 tracking-normal whitespace-pre text-muted">
                    <span className="sticky left-0">{row.hunk.header}</span>
                  </div>
                ) : row.kind === 'note' ? (
                  <p className="sticky left-0 w-[100cqw] px-4 py-2.5 text-ui text-muted">
                    {row.file.binary ? texts.binary : texts.noDiff}
                  </p>
                ) : (
                  <DiffLineRow line={row.line} spans={coloursOf(row.file.fileName, row.hunk, row.index)} />
                )}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}
