/** The kinds of rows of the timeline: heads of turns, events, output, days and gaps. */
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
  MessageCircleQuestionMark,
  MessageSquare,
  MessagesSquare,
  Search,
  SquareTerminal,
  Terminal,
  Wrench,
  type LucideIcon,
} from 'lucide-react'
import { excerpt } from '#domain/history/excerpt.ts'
import { rowAt, type OutputPiece, type RowKind, type TimelineRow } from '#domain/history/row.ts'
import { sectionAt, type TimelineSection } from '#domain/history/timeline.ts'
import { classes } from '../../../ui/classes.ts'
import { IconButton } from '../../../ui/form/IconButton.tsx'
import { Status } from '../../../ui/status/Status.tsx'
import { clockTime, elapsed, took } from '../../../ui/text/times.ts'
import { fullDate, lasting, zoneAt } from '../../../ui/text/dates.ts'
import type { ReplayMoment } from './historySession.ts'
import { nameOf, type ListedRow } from './listedRows.ts'
import { texts } from './texts.ts'

export type ShowIn = (panel: 'chat' | 'terminal' | 'changes') => void

/** The position of the replay; `null` while the live task is shown. */
type Shown = Pick<ReplayMoment, 'revision' | 'index'> | null

interface ListedProps {
  readonly listed: ListedRow
  readonly moment: Shown
  readonly isFirst: boolean
  readonly isCurrent: boolean
  readonly person: string
  readonly onFold: (number: number) => void
  readonly onUnfold: (key: string) => void
  readonly onSeek: (row: TimelineRow | OutputPiece) => void
  readonly onShowIn: ShowIn
}

export function Listed({ listed, ...props }: ListedProps) {
  switch (listed.kind) {
    case 'head':
      return <SectionHead {...props} {...listed} />
    case 'row':
      return <Row {...props} {...listed} />
    case 'output':
      return <Output {...props} name={listed.key} pieces={listed.pieces} isOpen={listed.isOpen} />
    case 'piece':
      return <Piece {...props} {...listed} />
    case 'day':
      return (
        <p className="flex h-full items-end px-4 pb-1 text-meta font-medium text-muted max-md:px-3">
          <time dateTime={listed.at}>{texts.day(fullDate(listed.at), zoneAt(listed.at))}</time>
        </p>
      )
    case 'gap':
      return (
        <p className="flex h-full items-center gap-2.5 px-4 text-meta text-muted max-md:px-3">
          <span className="flex-1 border-t border-dashed border-line" aria-hidden="true" />
          {(listed.isIdle ? texts.idle : texts.gap)(lasting(listed.ms))}
          <span className="flex-1 border-t border-dashed border-line" aria-hidden="true" />
        </p>
      )
  }
}

interface SectionHeadProps extends Pick<ListedProps, 'moment' | 'isFirst' | 'onFold'> {
  readonly section: TimelineSection
  readonly isFolded: boolean
}

function SectionHead({ section, isFolded, isFirst, moment, onFold }: SectionHeadProps) {
  const { number, kind, prompt, outcome, durationMs, costUsd } =
    moment === null ? section : sectionAt(section, moment.revision)
  const isLater = moment !== null && section.revision > moment.revision
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

/** The columns of a row: time, time since the start of the turn, icon, text, actor, duration, cost. */
const columns =
  'focus-inset grid h-full w-full grid-cols-[60px_14px_minmax(0,1fr)_auto] items-center gap-2.5 px-3 text-left text-ui md:grid-cols-[68px_14px_minmax(0,1fr)_72px_56px_56px] md:px-4 lg:grid-cols-[64px_52px_14px_minmax(0,1fr)_92px_52px_52px]'

interface RowProps extends Pick<ListedProps, 'moment' | 'isCurrent' | 'person' | 'onSeek' | 'onShowIn'> {
  readonly section: TimelineSection
  readonly row: TimelineRow
}

function Row({ section, row: whole, moment, isCurrent, person, onSeek, onShowIn }: RowProps) {
  const row = moment === null ? whole : rowAt(whole, moment.revision)
  const { at, sentence, detail, who, durationMs, costUsd, outcome } = row
  const isLater = moment !== null && row.revision > moment.revision
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
        onClick={() => onSeek(whole)}
        className={classes(columns, isLater && 'text-muted')}
      >
        <time dateTime={at} className="mono text-meta text-muted">
          {clockTime(at)}
        </time>
        <Offset at={at} since={section.at} />
        <RowIcon row={row} />
        <span className="truncate">
          {sentence}
          {detail !== '' && (
            <span className={outcome === 'failed' ? 'text-bad' : 'text-muted'}> {detail}</span>
          )}
        </span>
        <span className="truncate text-meta text-muted max-md:hidden">{nameOf(who, person)}</span>
        <span className="text-right text-meta text-muted">{durationMs !== null && took(durationMs)}</span>
        <span className="text-right text-meta text-muted max-md:hidden">{dollars(costUsd)}</span>
      </button>
      {isCurrent && <ShowButtons onShowIn={onShowIn} />}
    </div>
  )
}

/** The time since the start of the row's turn. */
function Offset({ at, since }: { readonly at: string; readonly since: string }) {
  return (
    <span className="mono truncate text-right text-tiny text-muted max-lg:hidden">
      +{took(Date.parse(at) - Date.parse(since))}
    </span>
  )
}

interface OutputProps extends Pick<ListedProps, 'moment' | 'onUnfold'> {
  /** The key of this output in the set of expanded outputs. */
  readonly name: string
  readonly pieces: readonly OutputPiece[]
  readonly isOpen: boolean
}

/** Expandable output. Pieces that were printed after the shown moment are not counted. */
function Output({ name, pieces, isOpen, moment, onUnfold }: OutputProps) {
  const known = moment === null ? pieces.length : pieces.filter(({ index }) => index <= moment.index).length
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <button
      type="button"
      data-row=""
      aria-expanded={isOpen}
      onClick={() => onUnfold(name)}
      className={classes(columns, 'text-muted hover:bg-raised')}
    >
      <span />
      <span className="max-lg:hidden" />
      <Chevron className="size-3" />
      <span className="truncate">{known === 0 ? texts.laterOutput : texts.output(known)}</span>
    </button>
  )
}

interface PieceProps extends Pick<ListedProps, 'moment' | 'isCurrent' | 'onSeek'> {
  readonly piece: OutputPiece
}

function Piece({ piece, moment, isCurrent, onSeek }: PieceProps) {
  const { index, item } = piece
  const isLater = moment !== null && index > moment.index
  const { timestamp, content } = item.output
  return (
    <button
      type="button"
      data-row=""
      aria-current={isCurrent ? 'step' : undefined}
      onClick={() => onSeek(piece)}
      className={classes(
        'focus-inset grid h-full w-full grid-cols-[60px_14px_minmax(0,1fr)] items-center gap-2.5 px-3 text-left hover:bg-raised md:grid-cols-[68px_14px_minmax(0,1fr)] md:px-4 lg:grid-cols-[64px_52px_14px_minmax(0,1fr)]',
        isCurrent && 'bg-select shadow-[inset_2px_0_0_var(--accent)]',
      )}
    >
      <time dateTime={timestamp} className="mono text-meta text-muted">
        {clockTime(timestamp)}
      </time>
      <span className="max-lg:hidden" />
      <span />
      <span className="mono truncate text-meta text-muted">
        {!isLater && (item.erased ? texts.erasedOutput : excerpt(content.replaceAll(escapes, '')))}
      </span>
    </button>
  )
}

/** Matches terminal colours and cursor movements. */
// oxlint-disable-next-line no-control-regex -- they begin with a control character
const escapes = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]{0,200}\u0007)/g

const panels = [
  ['chat', MessagesSquare],
  ['terminal', SquareTerminal],
  ['changes', FileDiff],
] as const

/** Buttons that show the moment of a row in another panel. */
function ShowButtons({ onShowIn }: { readonly onShowIn: ShowIn }) {
  return (
    <span
      role="group"
      aria-label={texts.jump.label}
      className="absolute inset-y-0 right-2 flex items-center rounded-control bg-select pl-2"
    >
      {panels.map(([panel, icon]) => (
        <span key={panel} className={panel === 'chat' ? 'split:hidden' : 'contents'}>
          <IconButton icon={icon} label={texts.jump[panel]} size="row" onClick={() => onShowIn(panel)} />
        </span>
      ))}
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
  question: MessageCircleQuestionMark,
}

function RowIcon({ row: { kind, outcome } }: { readonly row: TimelineRow }) {
  if (outcome === 'failed') return <CircleX className="size-3.5 text-bad" />
  if (outcome === 'completed' && (kind === 'command' || kind === 'turn'))
    return <CircleCheck className="size-3.5 text-ok" />
  const Icon = icons[kind]
  return <Icon className={classes('size-3.5', outcome === 'running' ? 'text-run' : 'text-muted')} />
}

/** A cost such as `$0.14`; empty for zero. */
function dollars(cost: number): string {
  if (cost <= 0) return ''
  return cost < 0.005 ? '<$0.01' : `$${cost.toFixed(2)}`
}
