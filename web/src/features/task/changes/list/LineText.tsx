/** The text of a line: coloured, with changed words and search matches marked. */
import { classes } from '../../../../ui/classes.ts'
import { HiddenMarks } from '../../../../ui/text/HiddenMarks.tsx'
import { maxLineLength } from '../diff/diffRows.ts'
import { marksIn } from '../diff/findInDiff.ts'
import type { CodeSpan } from '../diff/highlight.ts'
import { cutSpans, marked, wordMarks } from '../diff/wordMarks.ts'
import type { DiffLine } from '../diff/parseDiff.ts'
import { texts } from '../texts.ts'

interface LineTextProps {
  readonly line: DiffLine
  /** The coloured spans of the line; `null` when there are none, as before the highlighter is loaded or for an unknown language. */
  readonly spans: readonly CodeSpan[] | null
  readonly needle: string
  /** The index of the current match in this line; `null` for none. */
  readonly current: number | null
}

export function LineText({ line, spans, needle, current }: LineTextProps) {
  const { kind, text, counterpart, noNewline } = line
  const all = spans ?? [{ text, className: '' }]
  const pieces = marked(text.length > maxLineLength ? cutSpans(all, maxLineLength) : all, {
    changed: counterpart === null ? [] : wordMarks(text, counterpart),
    matches: marksIn(line, needle),
    current,
  })
  return (
    <>
      {pieces.map((piece, index) => {
        // A piece has no key but its index. A piece without styling needs no element.
        if (piece.changed || piece.match !== 'no')
          return (
            <mark
              key={index}
              className={classes(
                'rounded-[2px] text-inherit',
                piece.match === 'current' ? '' : piece.className,
                piece.changed && piece.match === 'no' && (kind === 'added' ? 'bg-add-word' : 'bg-del-word'),
                piece.match === 'found' && 'bg-warn-bg ring-1 ring-warn',
                piece.match === 'current' && 'bg-warn text-panel!',
              )}
            >
              <HiddenMarks text={piece.text} />
            </mark>
          )
        if (piece.className === '') return <HiddenMarks key={index} text={piece.text} />
        return (
          <span key={index} className={piece.className}>
            <HiddenMarks text={piece.text} />
          </span>
        )
      })}
      {text.length > maxLineLength && (
        <span className="text-muted select-none">{texts.lineCut(text.length - maxLineLength)}</span>
      )}
      {noNewline && (
        <span
          role="img"
          aria-label={texts.noNewline}
          title={texts.noNewline}
          className="text-muted select-none"
        >
          {' ⏎̸'}
        </span>
      )}
    </>
  )
}
