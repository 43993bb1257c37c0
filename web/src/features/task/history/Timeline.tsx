/** The rows of the timeline. Only those in sight are in the page, however many there are. */
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  ChevronDown,
  ChevronRight,
  CircleCheck,
  CircleDot,
  CircleX,
  Eye,
  FilePen,
  FileDiff,
  GitBranch,
  GitCommitHorizontal,
  GitPullRequest,
  Globe,
  ListChecks,
  MessageSquare,
  MessagesSquare,
  Search,
  SquareTerminal,
  Terminal,
  Wrench,
  type LucideIcon,
} from 'lucide-react'
import { useEffect, useRef, type KeyboardEvent } from 'react'
import type { RowKind, TimelineRow, Who } from '#domain/history/rows.ts'
import type { TimelineSection } from '#domain/history/timeline.ts'
import { classes } from '../../../ui/classes.ts'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { Status } from '../../../ui/status/Status.tsx'
import { clockTime, elapsed, took } from '../../../ui/text/clock.ts'
import { useMedia } from '../../../ui/hooks.ts'
import { useReplayed } from '../replayed.ts'
import type { HistorySession } from './historySession.ts'
import { currentRow, type ListedRow } from './shownRows.ts'
import { texts } from './texts.ts'
import { useHistory } from './useHistory.ts'

/** Opens another panel of the task. */
export type ShowIn = (panel: 'chat' | 'terminal' | 'changes') => void

interface TimelineProps {
  readonly session: HistorySession
  readonly rows: readonly ListedRow[]
  readonly shown: boolean
  readonly onFold: (number: number) => void
  readonly onShowIn: ShowIn
}

const heights = { wide: { head: 36, row: 32 }, touch: { head: 44, row: 44 } } as const

export function Timeline({ session, rows, shown, onFold, onShowIn }: TimelineProps) {
  const box = useRef<HTMLDivElement>(null)
  const height = useMedia('(width >= 768px)') ? heights.wide : heights.touch
  const revision = useHistory(session, ({ replay }) => replay?.revision ?? null)
  const current = revision === null ? -1 : currentRow(rows, revision)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => height[rows[index]?.kind ?? 'row'],
    getItemKey: (index) => keyOf(rows[index]),
    overscan: 12,
  })
  // Another filter, a fold, or a phone that is turned has other heights.
  useEffect(() => virtual.measure(), [virtual, rows, height])
  useEffect(() => {
    if (shown && current >= 0) virtual.scrollToIndex(current, { align: 'auto' })
  }, [virtual, current, shown])
  const seek = (row: TimelineRow) => {
    session.pause()
    session.seek(session.indexOf(row.until))
  }
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
              {listed.kind === 'head' ? (
                <SectionHead
                  section={listed.section}
                  isFolded={listed.isFolded}
                  isFirst={index === 0}
                  isLater={revision !== null && listed.section.revision > revision}
                  onFold={onFold}
                />
              ) : (
                <Row
                  row={listed.row}
                  isCurrent={index === current}
                  isLater={revision !== null && listed.row.revision > revision}
                  onSeek={seek}
                  onShowIn={onShowIn}
                />
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}

function keyOf(listed: ListedRow | undefined): string {
  if (listed === undefined) return ''
  const { section } = listed
  return listed.kind === 'head'
    ? `${section.number}`
    : `${section.number} ${listed.row.revision} ${listed.row.kind}`
}

/** Up and down go from row to row. */
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

interface SectionHeadProps {
  readonly section: TimelineSection
  readonly isFolded: boolean
  readonly isFirst: boolean
  /** It begins after the moment that is shown. */
  readonly isLater: boolean
  readonly onFold: (number: number) => void
}

function SectionHead({ section, isFolded, isFirst, isLater, onFold }: SectionHeadProps) {
  const { number, kind, prompt, outcome, durationMs, costUsd } = section
  const Chevron = isFolded ? ChevronRight : ChevronDown
  return (
    <h2 className="h-full">
      <button
        type="button"
        data-row=""
        aria-expanded={!isFolded}
        onClick={() => onFold(number)}
        className={classes(
          'focus-inset flex h-full w-full items-center gap-2 border-b border-line-soft bg-bg px-4 text-left text-ui hover:bg-raised max-md:px-3',
          !isFirst && 'border-t',
          isLater && 'text-muted',
        )}
      >
        <Chevron className="size-3 flex-none text-muted" />
        <span className="flex-none font-medium">
          {kind === 'turn' ? texts.section.turn(number) : texts.section.command(number)}
        </span>
        <span className={classes('min-w-0 flex-1 truncate text-muted', kind === 'command' && 'mono')}>
          {prompt}
        </span>
        {!isLater && <Status status={outcome} small wordHidden={outcome === 'completed'} />}
        <span className="flex-none text-right text-meta text-muted md:w-16">
          {durationMs !== null && elapsed(durationMs)}
        </span>
        <span className="w-16 flex-none text-right text-meta text-muted max-md:hidden">
          {dollars(costUsd)}
        </span>
      </button>
    </h2>
  )
}

interface RowProps {
  readonly row: TimelineRow
  readonly isCurrent: boolean
  readonly isLater: boolean
  readonly onSeek: (row: TimelineRow) => void
  readonly onShowIn: ShowIn
}

function Row({ row, isCurrent, isLater, onSeek, onShowIn }: RowProps) {
  const { at, sentence, detail, who, durationMs, costUsd, outcome } = row
  const isSaved = useReplayed()?.isSaved === true
  return (
    <div
      className={classes(
        'group/row relative flex h-full items-center hover:bg-raised',
        isCurrent && 'bg-select shadow-[inset_2px_0_0_var(--accent)]',
      )}
    >
      <button
        type="button"
        data-row=""
        aria-current={isCurrent ? 'step' : undefined}
        onClick={() => onSeek(row)}
        className={classes(
          'focus-inset grid h-full w-full grid-cols-[60px_14px_minmax(0,1fr)_auto] items-center gap-2.5 px-3 text-left text-ui md:grid-cols-[68px_14px_minmax(0,1fr)_72px_56px_56px] md:px-4',
          isLater && 'text-muted',
        )}
      >
        <time dateTime={at} className="mono text-meta text-muted">
          {clockTime(at)}
        </time>
        <RowIcon row={row} />
        <span className="truncate">
          {sentence}
          {detail !== '' && (
            <span className={outcome === 'failed' ? 'text-bad' : 'text-muted'}> {detail}</span>
          )}
        </span>
        <span className="truncate text-meta text-muted max-md:hidden">{nameOf(who, isSaved)}</span>
        <span className="text-right text-meta text-muted">{durationMs !== null && took(durationMs)}</span>
        <span className="text-right text-meta text-muted max-md:hidden">{dollars(costUsd)}</span>
      </button>
      {isCurrent && <ShowButtons onShowIn={onShowIn} />}
    </div>
  )
}

/** The ways to the same moment in the other panels. */
function ShowButtons({ onShowIn }: { readonly onShowIn: ShowIn }) {
  return (
    <span
      role="group"
      aria-label={texts.jump.label}
      className="absolute inset-y-0 right-2 flex items-center rounded-control bg-select pl-2"
    >
      <span className="split:hidden">
        <IconButton
          icon={MessagesSquare}
          label={texts.jump.chat}
          size="row"
          onClick={() => onShowIn('chat')}
        />
      </span>
      <IconButton
        icon={SquareTerminal}
        label={texts.jump.terminal}
        size="row"
        onClick={() => onShowIn('terminal')}
      />
      <IconButton icon={FileDiff} label={texts.jump.changes} size="row" onClick={() => onShowIn('changes')} />
    </span>
  )
}

const icons: Readonly<Record<RowKind, LucideIcon>> = {
  task: CircleDot,
  message: MessageSquare,
  answer: MessagesSquare,
  setup: GitBranch,
  read: Eye,
  edit: FilePen,
  command: Terminal,
  search: Search,
  fetch: Globe,
  plan: ListChecks,
  tool: Wrench,
  changes: FileDiff,
  commit: GitCommitHorizontal,
  pull_request: GitPullRequest,
  turn: CircleDot,
}

function RowIcon({ row: { kind, outcome } }: { readonly row: TimelineRow }) {
  if (outcome === 'failed') return <CircleX className="size-3.5 text-bad" />
  if (outcome === 'completed' && (kind === 'command' || kind === 'turn'))
    return <CircleCheck className="size-3.5 text-ok" />
  const Icon = icons[kind]
  return <Icon className={classes('size-3.5', outcome === 'running' ? 'text-run' : 'text-muted')} />
}

/** `isSaved`: whoever opens a saved replay need not be the person in it. */
function nameOf(who: Who, isSaved: boolean): string {
  if (typeof who === 'object') return who.agent
  if (who === 'runner' || who === 'code_host') return texts.who[who]
  return isSaved ? texts.who.somebody : texts.who.person
}

/** `$0.14`; nothing for nothing. */
function dollars(cost: number): string {
  if (cost <= 0) return ''
  return cost < 0.005 ? '<$0.01' : `$${cost.toFixed(2)}`
}
