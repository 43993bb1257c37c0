/** A row of a diff: a line with its numbers on both sides and its sign, or two lines side by side. */
import { MessageSquarePlus } from 'lucide-react'
import { memo, type ReactNode } from 'react'
import { classes } from '../../../../ui/classes.ts'
import { IconButton } from '../../../../ui/form/IconButton.tsx'
import type { LineRow } from '../diff/diffRows.ts'
import type { CodeSpan } from '../diff/highlight.ts'
import { type DiffLine, lineKey } from '../diff/parseDiff.ts'
import { useReplayed } from '../../replayContext.ts'
import { texts } from '../texts.ts'
import { LineText } from './LineText.tsx'

/** The coloured spans of a line; `null` while it has no colours. */
type Spans = readonly CodeSpan[] | null

interface DiffLineRowProps {
  readonly row: LineRow
  readonly split: boolean
  readonly leftSpans: Spans
  readonly rightSpans: Spans
  readonly needle: string
  /** The key of the line with the current search match, and the index of the match in it. */
  readonly currentKey: string | null
  readonly currentNth: number
  readonly selected: boolean
  /** Whether Tab reaches this line. */
  readonly reachable: boolean
  readonly mayComment: boolean
  readonly onComment: (id: string, extend: boolean) => void
}

const signs = { context: ' ', added: '+', deleted: '−' } as const
const signColours = { context: 'text-muted', added: 'text-ok', deleted: 'text-bad' } as const
const lineColours = { context: '', added: 'bg-add-bg', deleted: 'bg-del-bg' } as const

export const DiffLineRow = memo(function DiffLineRow(props: DiffLineRowProps) {
  const isReplayed = useReplayed() !== null
  const { row, split, leftSpans, rightSpans, needle, currentKey, selected, reachable } = props
  const { left, right } = row
  const textOf = (line: DiffLine, spans: Spans) => (
    <LineText
      line={line}
      spans={spans}
      needle={needle}
      current={lineKey(line) === currentKey ? props.currentNth : null}
    />
  )
  const one = (right ?? left)?.line
  return (
    <div
      data-row={row.id}
      tabIndex={reachable ? 0 : -1}
      // Only the reachable row has a role and a name: on all rows they would be noise for screen readers.
      {...(reachable && { role: 'group', 'aria-label': nameOf(row) })}
      className={classes(
        'focus-inset relative h-5 scroll-mt-9 font-mono text-code tracking-normal whitespace-pre outline-none focus-visible:outline-2 focus-visible:outline-accent',
        split ? 'sticky left-0 grid w-[100cqw] grid-cols-2' : 'grid grid-cols-[40px_40px_20px_minmax(0,1fr)]',
        !split && one !== undefined && !selected && lineColours[one.kind],
        !split && selected && 'bg-select',
      )}
    >
      {split ? (
        <>
          <Half line={left?.line} number={left?.line.before} selected={selected} side="left">
            {left !== null && textOf(left.line, leftSpans)}
          </Half>
          <Half
            line={right?.line}
            number={right?.line.after}
            selected={selected}
            side="right"
            traced={!isReplayed}
          >
            {right !== null && textOf(right.line, rightSpans)}
          </Half>
        </>
      ) : (
        one !== undefined && (
          <>
            <LineNumber>{one.before}</LineNumber>
            <LineNumber traced={!isReplayed}>{one.after}</LineNumber>
            <Sign kind={one.kind} />
            <span className="[tab-size:4]">{textOf(one, right === null ? leftSpans : rightSpans)}</span>
          </>
        )
      )}
      {props.mayComment && !isReplayed && (
        // The button covers the left column of numbers or, for a deleted line in the unified view, the empty column beside it.
        <span
          className={classes(
            'absolute -top-1.5 z-1 md:-top-1',
            !split && one?.kind === 'deleted' ? 'left-11.5' : 'left-1.5',
          )}
        >
          <IconButton
            icon={MessageSquarePlus}
            label={texts.comment}
            shortcut="C"
            kind="primary"
            size="row"
            data-add
            tabIndex={reachable ? 0 : -1}
            onClick={(event) => props.onComment(row.id, event.shiftKey)}
          />
        </span>
      )}
    </div>
  )
})

interface HalfProps {
  readonly line: DiffLine | undefined
  readonly number: number | null | undefined
  readonly selected: boolean
  readonly side: 'left' | 'right'
  readonly traced?: boolean
  readonly children: ReactNode
}

/** One side of a row: its number, which stays in place, and its text, which scrolls with the list. */
function Half({ line, number, selected, side, traced = false, children }: HalfProps) {
  // Without a line, the kind is not used: that side is a raised area without a sign.
  const kind = line?.kind ?? 'context'
  return (
    <div
      className={classes(
        'grid min-w-0 grid-cols-[40px_20px_minmax(0,1fr)]',
        side === 'right' && 'border-l border-line-soft',
        selected ? 'bg-select' : line === undefined ? 'bg-raised' : lineColours[kind],
      )}
    >
      <LineNumber traced={traced}>{number}</LineNumber>
      {line === undefined ? <span /> : <Sign kind={kind} />}
      <span className="min-w-0 overflow-hidden indent-[calc(-1*var(--scrolled,0px))] [tab-size:4]">
        {children}
      </span>
    </div>
  )
}

interface LineNumberProps {
  /** Whether a click on the number shows where the line comes from. The list handles the click; keyboard users have a key for the same. */
  readonly traced?: boolean
  readonly children: number | null | undefined
}

function LineNumber({ traced = false, children }: LineNumberProps) {
  const isTraced = traced && children != null
  return (
    <span
      {...(isTraced && { 'data-origin': '', title: texts.originOfLine })}
      className={classes(
        'pr-2 text-right text-meta/5 text-muted select-none',
        isTraced && 'cursor-pointer hover:text-accent hover:underline',
      )}
    >
      {children}
    </span>
  )
}

function Sign({ kind }: { readonly kind: DiffLine['kind'] }) {
  return <span className={classes('text-center select-none', signColours[kind])}>{signs[kind]}</span>
}

function nameOf({ left, right }: LineRow): string {
  const lines = left?.line === right?.line ? [left?.line] : [left?.line, right?.line]
  return lines
    .flatMap((line) =>
      line === undefined ? [] : [`${texts.line[line.kind]} ${line.after ?? line.before}: ${line.text}`],
    )
    .join(', ')
}
