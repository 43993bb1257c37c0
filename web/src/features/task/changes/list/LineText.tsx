/** The text of a line: coloured, with changed words and search matches marked. */
import { classes } from '../../../../ui/classes.ts'
import { HiddenMarks } from '../../../../ui/text/HiddenMarks.tsx'
import { longestShown } from '../diff/diffRows.ts'
import { foundIn } from '../diff/findInDiff.ts'
import type { CodeSpan } from '../diff/highlight.ts'
import { cutSpans, marked, wordMarks } from '../diff/wordMarks.ts'
import type { DiffLine } from '../diff/parseDiff.ts'
import { texts } from '../texts.ts'

interface LineTextProps {
  readonly line: DiffLine
  /** Its colours; `null` when there are none, as before the highlighter is loaded or for an unknown language. */
  readonly spans: readonly CodeSpan[] | null
  readonly wanted: string
  /** The index of the current match in this line; `null` for none. */
  readonly current: number | null
}

export function LineText({ line, spans, wanted, current }: LineTextProps) {
  const { kind, text, counterpart, noNewline } = line
  const all = spans ?? [{ text, className: '' }]
  const pieces = marked(text.length > longestShown ? cutSpans(all, longestShown) : all, {
    changed: counterpart === null ? [] : wordMarks(text, counterpart),
    found: foundIn(line, wanted),
    current,
  })
  return (
    <>
      {pieces.map((piece, index) => {
        // Pieces are only identified by index; those without styling need no element.
        if (piece.changed || piece.found !== 'no')
          return (
            <mark
              key={index}
              className={classes(
                'rounded-[2px] text-inherit',
                piece.found === 'current' ? '' : piece.className,
                piece.changed && piece.found === 'no' && (kind === 'added' ? 'bg-add-word' : 'bg-del-word'),
                piece.found === 'found' && 'bg-warn-bg ring-1 ring-warn',
                piece.found === 'current' && 'bg-warn text-panel!',
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
      {text.length > longestShown && (
        <span className="text-muted select-none">{texts.lineCut(text.length - longestShown)}</span>
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
