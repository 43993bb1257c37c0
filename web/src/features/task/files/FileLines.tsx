/** The lines of a text with their numbers and colours. Only the visible ones are rendered. */
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef } from 'react'
import { classes } from '../../../ui/classes.ts'
import { HiddenMarks } from '../../../ui/text/HiddenMarks.tsx'
import type { CodeSpan } from '../changes/diff/highlight.ts'
import type { Hunk } from '../changes/diff/parseDiff.ts'
import { useHunkColours } from '../changes/list/useHunkColours.ts'
import { selectedText, useRowSelection } from '../terminal/useRowSelection.ts'
import { texts } from './texts.ts'

interface FileLinesProps {
  readonly path: string
  readonly text: string
  /** The number of the line that the page's address names. */
  readonly line: number | null
  readonly onLine: (line: number) => void
}

const rowHeight = 20
const rowItself = (row: number) => row

export function FileLines({ path, text, line, onLine }: FileLinesProps) {
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const coloursOf = useHunkColours()
  const hunk = useMemo(() => wholeOf(text), [text])
  const selected = useRowSelection(content, rowItself)
  const count = hunk.lines.length
  const list = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 10,
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), ...selected])]
        .filter((row) => row < count)
        .toSorted((one, other) => one - other),
  })
  const first = useRef(line)
  useEffect(() => {
    if (first.current !== null) list.scrollToIndex(first.current - 1, { align: 'center' })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only the line with which the file is opened moves the view
  }, [])
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard scrolls it
    <div
      ref={box}
      onCopy={(event) => {
        const copied = selectedText(document.getSelection(), content.current, (row) => hunk.lines[row]?.text)
        if (copied === null) return
        event.preventDefault()
        event.clipboardData.setData('text/plain', copied)
      }}
      role="region"
      aria-label={texts.content(path)}
      tabIndex={0}
      className="focus-inset min-h-0 flex-1 overflow-auto overscroll-contain"
    >
      <div ref={content} className="relative min-w-full" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start }) => {
          const shown = hunk.lines[index]
          if (shown === undefined) return null
          return (
            <div
              key={index}
              data-index={index}
              style={{ transform: `translateY(${start}px)` }}
              aria-current={line === index + 1 ? 'location' : undefined}
              className={classes(
                'absolute top-0 left-0 flex h-5 min-w-full font-mono text-code tracking-normal whitespace-pre',
                line === index + 1 && 'bg-select',
              )}
            >
              <button
                type="button"
                tabIndex={-1}
                aria-label={texts.line(index + 1)}
                onClick={() => onLine(index + 1)}
                className="w-14 flex-none pr-3 text-right text-meta/5 text-muted select-none hover:text-accent hover:underline"
              >
                {index + 1}
              </button>
              <span data-line="" className="pr-4 [tab-size:4]">
                <LineText text={shown.text} spans={coloursOf(path, hunk, index)} />
              </span>
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** A line with more UTF-16 code units than this is cut, and has no colours. */
const longestLine = 5_000

function LineText({ text, spans }: { readonly text: string; readonly spans: readonly CodeSpan[] | null }) {
  const left = text.length - longestLine
  const plain = [{ text: text.slice(0, longestLine), className: '' }]
  const pieces = spans === null || left > 0 ? plain : spans
  return (
    <>
      {pieces.map((piece, index) => (
        // The index is the key, because pieces have no id.
        <span key={index} className={piece.className}>
          <HiddenMarks text={piece.text} />
        </span>
      ))}
      {left > 0 && <span className="text-muted select-none">{texts.lineCut(left)}</span>}
    </>
  )
}

/** A text as one hunk of a diff in which nothing changed. */
function wholeOf(text: string): Hunk {
  const rows = text.split('\n')
  // If the text ends with a line break, no further line comes after it.
  if (rows.at(-1) === '') rows.pop()
  const lines = rows.map((row, index) => ({
    kind: 'context' as const,
    before: index + 1,
    after: index + 1,
    text: row.endsWith('\r') ? row.slice(0, -1) : row,
    counterpart: null,
    noNewline: false,
  }))
  const from = { before: 1, after: 1 }
  const end = lines.length + 1
  return { header: '', lines, from, to: { before: end, after: end } }
}
