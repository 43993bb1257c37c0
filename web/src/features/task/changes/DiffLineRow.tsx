/** A line of a diff: where it is on both sides, its sign, and what it says, with the words marked that changed. */
import { memo } from 'react'
import { classes } from '../../../ui/classes.ts'
import type { CodeSpan } from './highlight.ts'
import { marked } from './marked.ts'
import type { DiffLine } from './parseDiff.ts'
import { wordMarks } from './wordMarks.ts'

interface DiffLineRowProps {
  readonly line: DiffLine
  /** Its colours; `null` while there are none. */
  readonly spans: readonly CodeSpan[] | null
}

const signs = { context: ' ', added: '+', deleted: '−' } as const

export const DiffLineRow = memo(function DiffLineRow({ line, spans }: DiffLineRowProps) {
  const { kind, before, after, text, counterpart } = line
  const marks = counterpart === null ? [] : wordMarks(text, counterpart)
  const pieces = marked(spans ?? [{ text, className: '' }], marks)
  return (
    <div
      className={classes(
        'grid h-5 grid-cols-[40px_40px_20px_minmax(0,1fr)] font-mono text-code tracking-normal whitespace-pre',
        kind === 'added' && 'bg-add-bg',
        kind === 'deleted' && 'bg-del-bg',
      )}
    >
      <span className="pr-2 text-right text-meta/5 text-muted select-none">{before}</span>
      <span className="pr-2 text-right text-meta/5 text-muted select-none">{after}</span>
      <span
        className={classes(
          'text-center select-none',
          kind === 'added' ? 'text-ok' : kind === 'deleted' ? 'text-bad' : 'text-muted',
        )}
      >
        {signs[kind]}
      </span>
      <span className="[tab-size:4]">
        {pieces.map((piece, index) =>
          // Pieces have no name but their place.
          piece.marked ? (
            <mark
              key={index}
              className={classes(
                'rounded-[2px] text-inherit',
                piece.className,
                kind === 'added' ? 'bg-add-word' : 'bg-del-word',
              )}
            >
              {piece.text}
            </mark>
          ) : (
            <span key={index} className={piece.className}>
              {piece.text}
            </span>
          ),
        )}
        {line.noNewline && <span className="text-muted select-none"> ⏎̸</span>}
      </span>
    </div>
  )
})
