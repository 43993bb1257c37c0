/** The rows of the timeline. Only visible rows are rendered, however many there are. */
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, type KeyboardEvent } from 'react'
import { useMedia } from '../../../ui/hooks.ts'
import type { HistorySession } from './historySession.ts'
import { currentRow, type ListedRow } from './listedRows.ts'
import { Listed, type ShowIn } from './TimelineRows.tsx'
import { useHistory } from './useHistory.ts'

interface TimelineProps {
  readonly session: HistorySession
  readonly rows: readonly ListedRow[]
  readonly visible: boolean
  readonly onFold: (number: number) => void
  readonly onUnfold: (key: string) => void
  readonly onShowIn: ShowIn
}

const heights = {
  wide: { head: 36, row: 32, output: 28, piece: 24, day: 32, gap: 28 },
  touch: { head: 44, row: 44, output: 44, piece: 44, day: 36, gap: 32 },
} as const

export function Timeline({ session, rows, visible, onFold, onUnfold, onShowIn }: TimelineProps) {
  const box = useRef<HTMLDivElement>(null)
  const height = useMedia('(width >= 768px)') ? heights.wide : heights.touch
  const moment = useHistory(session, ({ replay }) => replay)
  const current = moment === null ? -1 : currentRow(rows, moment.revision, moment.index)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => height[rows[index]?.kind ?? 'row'],
    getItemKey: (index) => keyOf(rows[index]),
    overscan: 12,
  })
  // A new filter, an expanded or collapsed row, or a rotated phone changes the heights of rows, so they are measured again.
  useEffect(() => virtual.measure(), [virtual, rows, height])
  useEffect(() => {
    if (visible && current >= 0) virtual.scrollToIndex(current, { align: 'auto' })
  }, [virtual, current, visible])
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- arrow keys move between the buttons inside it
    <div
      ref={box}
      data-replay-player=""
      onKeyDown={moveFocus}
      className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto pb-2"
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start, size }) => {
          const listed = rows[index]
          if (listed === undefined) return null
          return (
            <div
              key={key}
              className="absolute inset-x-0 top-0"
              style={{ height: size, transform: `translateY(${start}px)` }}
            >
              <Listed
                listed={listed}
                moment={moment}
                isFirst={index === 0}
                isCurrent={index === current}
                person={session.names.person}
                onFold={onFold}
                onUnfold={onUnfold}
                onSeek={(to) => {
                  session.pause()
                  session.seek('index' in to ? to.index : session.indexOf(to.until))
                }}
                onShowIn={onShowIn}
              />
            </div>
          )
        })}
      </div>
    </div>
  )
}

function keyOf(listed: ListedRow | undefined): string {
  switch (listed?.kind) {
    case undefined:
      return ''
    case 'head':
      return `${listed.section.number}`
    case 'row':
      // One tool call can make several commits, which have the same revision but different sentences.
      return `${listed.section.number} ${listed.row.revision} ${listed.row.kind} ${listed.row.kind === 'commit' ? listed.row.sentence : ''}`
    case 'output':
      return `output ${listed.key}`
    case 'piece':
      return `t${listed.piece.item.output.version}`
    case 'day':
      return `day ${listed.at}`
    case 'gap':
      return `gap ${listed.revision} ${listed.isIdle}`
  }
}

/** Moves the focus between rows with the up and down keys. */
function moveFocus(event: KeyboardEvent<HTMLDivElement>): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (by === undefined) return
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('button[data-row]')]
  const rows = buttons.toSorted((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
  const at = rows.findIndex((row) => row === document.activeElement)
  const next = rows[at + by]
  if (at === -1 || next === undefined) return
  event.preventDefault()
  next.focus()
}
