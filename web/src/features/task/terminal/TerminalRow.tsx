/** A line of the terminal. Its time shows where the second changes, and on all lines that are pointed at. */
import { memo } from 'react'
import { classes } from '../../../ui/classes.ts'
import { clockTime } from '../../../ui/clock.ts'
import { spansOf } from './spans.ts'
import type { TerminalLine } from './terminalLog.ts'

interface TerminalRowProps {
  readonly index: number
  /** Pixels from the first line. */
  readonly top: number
  readonly line: TerminalLine
  readonly before: TerminalLine | undefined
  readonly wrap: boolean
  readonly measure: ((element: Element | null) => void) | undefined
}

/** How a command is announced: bold, behind a dollar sign. */
const announced = '\u001B[1m$ '

export function isCommandLine(line: TerminalLine | undefined): boolean {
  return line?.text.startsWith(announced) ?? false
}

export const TerminalRow = memo(function TerminalRow({
  index,
  top,
  line,
  before,
  wrap,
  measure,
}: TerminalRowProps) {
  const time = clockTime(line.at)
  const same = before !== undefined && clockTime(before.at) === time
  const isCommand = isCommandLine(line)
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
      <div className={classes('flex', isCommand && 'bg-raised leading-7')}>
        <time
          dateTime={line.at}
          className={classes(
            'w-19.5 flex-none pl-4 text-meta/5 text-muted',
            isCommand && 'leading-7',
            same && 'invisible group-hover/line:visible',
          )}
        >
          {time}
        </time>
        <span
          className={classes(
            'min-h-5 flex-1 border-l-2 pr-4 pl-2',
            wrap ? 'min-w-0 wrap-anywhere whitespace-pre-wrap' : 'whitespace-pre',
            line.channel === 'stderr' ? 'border-bad' : 'border-transparent',
          )}
        >
          {spansOf(line.start, line.text).map(({ text, className }, position) => (
            // Spans have no name but their place.
            <span key={position} className={className}>
              {text}
            </span>
          ))}
        </span>
      </div>
    </div>
  )
})
