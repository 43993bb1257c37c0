/** A line of the terminal. The time of a command is always shown, another time if it differs from the one above or the pointer is on the line. */
import { memo, type ReactNode } from 'react'
import { classes } from '../../../ui/classes.ts'
import { clockTime } from '../../../ui/text/times.ts'
import { piecesOf } from './log/linePieces.ts'
import type { TerminalLine } from './log/terminalWriter.ts'

interface TerminalRowProps {
  readonly index: number
  readonly top: number
  readonly line: TerminalLine
  /** The start time of the line above. */
  readonly previousTime: string | undefined
  readonly wrap: boolean
  readonly measure: ((element: Element | null) => void) | undefined
  readonly words: string
  /** The index of the current search match in this line. */
  readonly current: number | undefined
  readonly fold?: ReactNode
  readonly result?: ReactNode
}

export const TerminalRow = memo(function TerminalRow({
  index,
  top,
  line,
  previousTime,
  wrap,
  measure,
  words,
  current,
  fold,
  result,
}: TerminalRowProps) {
  const time = clockTime(line.at)
  const same = previousTime !== undefined && clockTime(previousTime) === time
  const isCommand = result !== undefined
  // On a phone, a wrapped command has the whole width; its outcome and its time stand below it.
  const isStacked = isCommand && wrap
  return (
    <div
      ref={measure}
      data-index={index}
      className={classes(
        'group/line absolute top-0 left-0 min-w-full',
        wrap ? 'w-full' : 'w-max',
        isCommand && 'pt-1',
      )}
      style={{ transform: `translateY(${top}px)` }}
    >
      <div className={classes('flex', isCommand && 'bg-raised leading-7', isStacked && 'max-md:flex-wrap')}>
        <time
          dateTime={line.at}
          className={classes(
            'w-19.5 flex-none pl-4 text-meta/5 text-muted select-none',
            // A phone only has room for the lines, and for the times of commands.
            isCommand ? 'leading-7' : 'max-md:h-5 max-md:opacity-0 max-md:w-3 max-md:overflow-hidden',
            same && !isCommand && 'invisible group-hover/line:visible',
            isStacked && 'max-md:order-1 max-md:ml-auto max-md:pr-4 max-md:pl-0',
          )}
        >
          {time}
        </time>
        {fold}
        <span
          data-line=""
          dir="ltr"
          className={classes(
            'min-h-5 flex-1 pr-4',
            isCommand ? 'py-1 pl-1 leading-5' : 'border-l-2 pl-2',
            isStacked && 'max-md:basis-[calc(100%-1.5rem)]',
            wrap ? 'min-w-0 wrap-anywhere whitespace-pre-wrap' : 'whitespace-pre',
            line.channel === 'stderr' ? 'border-bad' : 'border-transparent',
          )}
        >
          <LineText line={line} words={words} current={current} />
        </span>
        {result}
      </div>
    </div>
  )
})

function LineText({ line, words, current }: Pick<TerminalRowProps, 'line' | 'words' | 'current'>) {
  return piecesOf(line.start, line.text, words).map(({ text, className, href, match }, position) => {
    const marked =
      match === null ? (
        text
      ) : (
        <mark
          data-current={match === current || undefined}
          className="bg-warn-bg text-current outline-1 outline-line data-current:outline-2 data-current:outline-warn"
        >
          {text}
        </mark>
      )
    return href === null ? (
      // A piece has no id, so its index in the line is its key.
      <span key={position} className={className}>
        {marked}
      </span>
    ) : (
      <a
        key={position}
        href={href}
        target="_blank"
        rel="noreferrer"
        className={classes(className, 'focus-inset underline underline-offset-2')}
      >
        {marked}
      </a>
    )
  })
}
