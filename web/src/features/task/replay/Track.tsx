/** The slider of the replay: activity over time, starts of turns, breaks, the current position, and marks of failures, commits and pull requests. */
import { CircleX, GitCommitHorizontal, GitPullRequest } from 'lucide-react'
import { useMemo, useState, type KeyboardEvent, type PointerEvent } from 'react'
import { densityOf, type TimeAxis } from '#domain/history/timeAxis.ts'
import { classes } from '../../../ui/classes.ts'
import { clockTime, elapsed } from '../../../ui/text/times.ts'
import { lasting } from '../../../ui/text/dates.ts'
import type { HistorySession, ReplayMoment } from '../history/historySession.ts'
import { useWidth } from '../useWidth.ts'
import { turnWords } from './ReplayBar.tsx'
import { texts } from '../history/texts.ts'
import { useHistory } from '../history/useHistory.ts'
import { clockMarks, namedBreaks, spread, type Placed } from './trackMarks.ts'
import { nextEvent, previousEvent } from './useReplayKeys.ts'

interface TrackProps {
  readonly session: HistorySession
  readonly replay: ReplayMoment
}

const bars = 180

export function Track({ session, replay }: TrackProps) {
  const axis = useHistory(session, (view) => view.axis)
  const count = useHistory(session, (view) => view.count)
  const [width, measure] = useWidth()
  const percent = axis.length === 0 ? 0 : Math.min(100, (100 * replay.position) / axis.length)
  const time = clockTime(new Date(replay.time).toISOString())
  const seekTo = ({ currentTarget, clientX }: PointerEvent<HTMLElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    session.seekTo(((clientX - left) / width) * axis.length)
  }
  return (
    <div ref={measure} className="relative h-15 max-md:col-span-2 max-md:row-start-2 md:h-18">
      <div
        role="slider"
        tabIndex={0}
        aria-label={texts.scrubber.label}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, count)}
        aria-valuenow={replay.index + 1}
        aria-valuetext={texts.scrubber.value(time, replay.index + 1, count, turnWords(replay))}
        onKeyDown={(event) => onKeyDown(event, session)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          session.pause()
          seekTo(event)
        }}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) seekTo(event)
        }}
        className="absolute inset-0 cursor-pointer touch-none rounded-badge"
      >
        <Bars axis={axis} className="fill-control opacity-50" />
        <Bars axis={axis} className="fill-accent" shownTo={percent} />
        <Base axis={axis} />
        <Turns session={session} axis={axis} turn={replay.turn} width={width} />
        <Breaks axis={axis} width={width} />
        <span
          aria-hidden="true"
          className="absolute top-0.5 bottom-4.5 w-0.5 -translate-x-1/2 bg-accent before:absolute before:-top-0.5 before:-left-0.75 before:size-2 before:rounded-full before:bg-accent"
          style={{ left: `${percent}%` }}
        />
      </div>
      <Marks session={session} axis={axis} width={width} />
    </div>
  )
}

/** Handles those keys of the slider that `useReplayKeys.ts` does not already handle for the whole player. */
function onKeyDown(event: KeyboardEvent, session: HistorySession): void {
  const tenth = session.read().axis.length / 10
  const run = {
    ArrowUp: () => nextEvent(session),
    ArrowDown: () => previousEvent(session),
    PageUp: () => session.move(tenth),
    PageDown: () => session.move(-tenth),
  }[event.key]
  if (run === undefined) return
  event.preventDefault()
  run()
}

interface BarsProps {
  readonly axis: TimeAxis
  readonly className: string
  /** How much of the bars is shown, in percent of the width; the whole width when left out. */
  readonly shownTo?: number
}

function Bars({ axis, className, shownTo = 100 }: BarsProps) {
  const path = useMemo(() => {
    const density = densityOf(axis, bars)
    const maxDensity = Math.max(1, ...density)
    return density
      .map((count, bar) => {
        if (count === 0) return ''
        // The square root keeps one busy moment from flattening all others.
        const height = 4 + 32 * Math.sqrt(count / maxDensity)
        return `M${bar * 4} ${36 - height}h2.4v${height}h-2.4z`
      })
      .join('')
  }, [axis])
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${bars * 4} 36`}
      preserveAspectRatio="none"
      className={classes('absolute inset-x-0 bottom-5 h-6 w-full md:h-9', className)}
      style={{ clipPath: `inset(0 ${100 - shownTo}% 0 0)` }}
    >
      <path d={path} />
    </svg>
  )
}

/** The line below the bars, interrupted at idle stretches. */
function Base({ axis }: { readonly axis: TimeAxis }) {
  const placeOf = (position: number) => (axis.length === 0 ? 0 : (100 * position) / axis.length)
  return (
    <>
      <span className="absolute inset-x-0 bottom-4.75 h-px bg-control" aria-hidden="true" />
      {axis.idles.slice(0, 200).map(({ from, to, ms }) => (
        <span
          key={from}
          title={texts.scrubber.idle(elapsed(ms))}
          className="absolute bottom-4.75 h-px bg-[repeating-linear-gradient(90deg,var(--panel)_0_4px,transparent_4px_6px)]"
          style={{ left: `${placeOf(from)}%`, width: `${placeOf(to - from)}%` }}
        />
      ))}
    </>
  )
}

const icons = { failure: CircleX, commit: GitCommitHorizontal, pull_request: GitPullRequest } as const

interface MarksProps {
  readonly session: HistorySession
  readonly axis: TimeAxis
  readonly width: number
}

/** If `isTurn`, the markers of turns with their positions; otherwise all other markers. */
function usePlaced(
  { session, axis }: Pick<MarksProps, 'session' | 'axis'>,
  isTurn: boolean,
): readonly Placed[] {
  const markers = useHistory(session, (view) => view.markers)
  return useMemo(
    () =>
      markers
        .filter(({ kind }) => (kind === 'turn') === isTurn)
        .map((marker) => {
          const position = axis.positions[session.indexOf(marker.revision)] ?? 0
          return { marker, percent: axis.length === 0 ? 0 : (100 * position) / axis.length }
        })
        .toSorted((a, b) => a.percent - b.percent),
    [markers, axis, session, isTurn],
  )
}

/** The widths of labels in pixels: a time, a time with its turn where there is room, and the length of a break. */
const labelSize = { time: 64, turn: 108, break: 48 } as const
const percentOf = (pixels: number, width: number) => (width === 0 ? 100 : (100 * pixels) / width)

/** The labels for the starts of turns, and times in between. `turn` is the turn of the shown moment. */
function Turns({ turn, width, ...of }: MarksProps & { readonly turn: number | null }) {
  const isWide = width >= 500
  const turns = usePlaced(of, true)
  const marks = clockMarks(of.axis, turns, percentOf(isWide ? labelSize.turn : labelSize.time, width))
  return (
    <span aria-hidden="true">
      {marks.map(({ percent, time, turn: begun }) => (
        <span
          key={percent}
          className={classes('absolute bottom-0', begun ? 'top-3' : 'h-6')}
          style={{ left: `${percent}%` }}
        >
          <span className="absolute inset-y-0 w-px bg-line" />
          <span
            className={classes(
              'absolute bottom-0 left-1 text-tiny whitespace-nowrap',
              begun?.label.endsWith(` ${turn}`) ? 'font-medium text-text' : 'text-muted',
            )}
          >
            {isWide && begun && `${begun.label} `}
            {clockTime(new Date(time).toISOString())}
          </span>
        </span>
      ))}
    </span>
  )
}

function Breaks({ axis, width }: { readonly axis: TimeAxis; readonly width: number }) {
  return (
    <span aria-hidden="true">
      {namedBreaks(axis, percentOf(labelSize.break, width)).map(({ percent, ms }) => (
        <span
          key={percent}
          className="absolute bottom-5.5 -translate-x-1/2 rounded-badge bg-panel px-0.5 text-tiny whitespace-nowrap text-muted"
          style={{ left: `${percent}%` }}
        >
          {lasting(ms)}
        </span>
      ))}
    </span>
  )
}

/** The size of a mark in pixels, large enough for touch. Marks that would overlap the mark before them are left out. */
const markSize = 24

/**
 * The marks of failures, commits and pull requests. They are one Tab stop: the arrow keys move between them, and Enter shows the moment of a mark.
 */
function Marks(props: MarksProps) {
  const { session, width } = props
  const [chosen, setChosen] = useState(0)
  const marks = spread(usePlaced(props, false), percentOf(markSize, width))
  const current = Math.min(chosen, marks.length - 1)
  if (marks.length === 0) return null
  return (
    <div
      role="toolbar"
      aria-label={texts.scrubber.marks}
      onKeyDown={(event) => moveFocus(event, current)}
      className="absolute inset-x-0 top-0"
    >
      {marks.map(({ marker, percent }, index) => {
        const Icon = icons[marker.kind === 'turn' ? 'commit' : marker.kind]
        return (
          <button
            key={`${marker.kind} ${marker.revision}`}
            type="button"
            tabIndex={index === current ? 0 : -1}
            aria-label={marker.label}
            title={marker.label}
            onFocus={() => setChosen(index)}
            onClick={() => {
              session.pause()
              session.seek(session.indexOf(marker.revision))
            }}
            className="absolute -top-1 grid size-6 -translate-x-1/2 place-items-center rounded-badge hover:bg-raised"
            style={{ left: `${Math.min(99, Math.max(1, percent))}%` }}
          >
            <Icon className={classes('size-3.5', marker.kind === 'failure' ? 'text-bad' : 'text-muted')} />
          </button>
        )
      })}
    </div>
  )
}

function moveFocus(event: KeyboardEvent<HTMLElement>, current: number): void {
  const marks = event.currentTarget.querySelectorAll('button')
  const next = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: marks.length - 1 }[event.key]
  if (next === undefined) return
  event.preventDefault()
  marks.item(Math.max(0, Math.min(next, marks.length - 1))).focus()
}
