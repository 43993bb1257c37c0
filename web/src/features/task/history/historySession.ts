/**
 * The history of an open task: reads it in pages, follows the running task, and replays it. The state of a session is one immutable `HistoryView`.
 * While a past moment is replayed, `replayed` has the task as it was then.
 */
import type { Store } from '@reduxjs/toolkit'
import { isErased, recordedAt } from '#domain/history/item.ts'
import { markersOf, type Marker } from '#domain/history/markers.ts'
import { indexOfMoment, momentAfter, momentOf, sinceEvent } from '#domain/history/moments.ts'
import { withOutput } from '#domain/history/output.ts'
import type { Names } from '#domain/history/eventRows.ts'
import { indexAt, positionAfter, timeAt, timeAxisOf, type TimeAxis } from '#domain/history/timeAxis.ts'
import { timelineOf, type TimelineSection } from '#domain/history/timeline.ts'
import type { RootState } from '../../../state/rootReducer.ts'
import { readRecording } from '../savedReplay/recording.ts'
import { createObserved } from '../observedValue.ts'
import { selectOpenTask } from '../taskSlice.ts'
import { createReplayEngine, type Replayed, type ReplayEngine } from '../replay/replayEngine.ts'
import type { HistoryPage, HistorySource, Missing } from './readHistory.ts'
import type { TaskBase } from '../replay/replayState.ts'
import { createReplayView, type ReplayView } from '../replay/replayView.ts'
import { wordsWrittenBy } from '../replay/wordsWrittenBy.ts'

/** The shown moment, and whether it is playing. */
export interface ReplayMoment {
  readonly index: number
  /** The name of the moment in links. */
  readonly moment: string
  /** The position on the time axis, in milliseconds. */
  readonly position: number
  /** The time of the shown moment, in milliseconds since 1970. */
  readonly time: number
  /** The revision of the last shown event in the task's stream. */
  readonly revision: number
  /** The revision of the latest recorded changes at that moment; `null` before the first. */
  readonly changesAt: number | null
  /** The number of the latest turn or command at that moment; `null` before the first. */
  readonly turn: number | null
  readonly playing: boolean
  readonly speed: number
}

export interface HistoryView {
  readonly load: 'loading' | 'loaded' | 'failed'
  readonly reason: string
  readonly count: number
  /** The number of events on the server, but at least `count`. */
  readonly total: number
  readonly missing: readonly Missing[]
  /** The number of events whose content was erased. */
  readonly erased: number
  readonly sections: readonly TimelineSection[]
  readonly markers: readonly Marker[]
  readonly axis: TimeAxis
  /** The moment that is shown; `null` while the live task is shown. */
  readonly replay: ReplayMoment | null
  /** Whether the history does not contain the requested moment. */
  readonly isUnknownMoment: boolean
}

interface Collaborators {
  readonly live: Store<RootState>
  /** Calls `printed` whenever the live task prints output or its agent writes text. Returns the unsubscribe function. */
  readonly whenPrinted: (printed: () => void) => () => void
  readonly source: HistorySource
  readonly base: TaskBase
  readonly names: Names
  /** Calls `run` before the next frame, with the time in milliseconds. Returns a function that cancels the call. */
  readonly frame: (run: (now: number) => void) => () => void
}

export const speeds = [0.5, 1, 2, 4, 8, 16] as const

/** How many recorded changes are cached, so that going back to them needs no request. */
const changesKept = 12
/** The interval at which the timeline is recomputed while pages are loading, in ms. */
const arrangeIntervalMs = 300
/** How long to wait after a new event before reading new items, in milliseconds, since several events usually come together. */
const followDelayMs = 700

const nothingRead: HistoryView = {
  load: 'loading',
  reason: '',
  count: 0,
  total: 0,
  missing: [],
  erased: 0,
  sections: [],
  markers: [],
  axis: timeAxisOf([]),
  replay: null,
  isUnknownMoment: false,
}

/** The internal state of one open history; the functions below work on it. */
interface Session extends Collaborators {
  readonly engine: ReplayEngine
  readonly view: ReturnType<typeof createObserved<HistoryView>>
  readonly leaving: AbortController
  current: Replayed | null
  replayed: ReplayView | null
  next: string | undefined
  reading: boolean
  /** Whether the task may have new events since the reading of the last page began, so that another page must be read. */
  stale: boolean
  /** The moment to show as soon as it is loaded. */
  requested: string | null
  arrangedAt: number
  times: number[]
  /** Revisions at which changes were recorded. */
  changed: number[]
  speed: number
  stopFrame: () => void
  followTimer: ReturnType<typeof setTimeout> | undefined
}

export type HistorySession = ReturnType<typeof openHistory>

export function openHistory(collaborators: Collaborators) {
  const session = createSession(collaborators)
  const { engine, view } = session
  void readOn(session)
  const unfollow = followLive(session)
  return {
    names: session.names,
    read: view.read,
    subscribe: view.subscribe,
    /** The view that the page shows instead of the live task; `null` before the first replay. */
    replayed: () => session.replayed,
    items: engine.items,
    changes: keptChanges(session.source),
    /** Reads everything recorded so far, for a file that replays the history without the server. Resolves to the reason when it cannot be read. */
    record: () => readRecording(session, session.leaving.signal),
    /** The index of an event of the task's stream by its revision; `-1` when it is not loaded. */
    indexOf: engine.indexOfRevision,
    /** Continues reading after a failure. */
    retry: () => void readOn(session),
    /** Shows the moment that a link names, as soon as it is loaded. */
    open(moment: string) {
      session.requested = moment
      change(session, { isUnknownMoment: false })
      openRequested(session)
    },
    seek: (index: number) => seekIndex(session, index),
    /** Moves by a distance on the time axis, in milliseconds of the axis. */
    move: (ms: number) =>
      seekPosition(session, (view.read().replay?.position ?? view.read().axis.length) + ms),
    /** Moves to a position on the time axis. */
    seekTo: (position: number) => seekPosition(session, position),
    play: () => play(session),
    pause: () => pause(session),
    setSpeed(speed: number) {
      session.speed = speed
      const { replay } = view.read()
      if (replay) change(session, { replay: { ...replay, speed } })
    },
    backToLive() {
      session.stopFrame()
      session.requested = null
      session.current = null
      change(session, { replay: null, isUnknownMoment: false })
    },
    close() {
      session.leaving.abort()
      session.stopFrame()
      clearTimeout(session.followTimer)
      unfollow()
    },
  }
}

function createSession(collaborators: Collaborators): Session {
  return {
    ...collaborators,
    engine: createReplayEngine(collaborators.base),
    view: createObserved(nothingRead),
    leaving: new AbortController(),
    current: null,
    replayed: null,
    next: undefined,
    reading: false,
    stale: false,
    requested: null,
    arrangedAt: 0,
    times: [],
    changed: [],
    speed: 1,
    stopFrame: () => undefined,
    followTimer: undefined,
  }
}

/** Caches the changes of the revisions that were read last. Failures are not cached. */
function keptChanges({ changes }: HistorySource): HistorySource['changes'] {
  const kept = new Map<number, ReturnType<HistorySource['changes']>>()
  return (revision) => {
    const known = kept.get(revision)
    if (known !== undefined) return known
    const answer = changes(revision)
    kept.set(revision, answer)
    if (kept.size > changesKept) for (const [oldest] of [...kept].slice(0, 1)) kept.delete(oldest)
    void answer.then((read) => 'reason' in read && kept.delete(revision))
    return answer
  }
}

function change(session: Session, next: Partial<HistoryView>): void {
  session.view.set({ ...session.view.read(), ...next })
}

async function readOn(session: Session): Promise<void> {
  if (session.reading) return
  session.reading = true
  if (session.view.read().load === 'failed') change(session, { load: 'loading', reason: '' })
  for (let coming: ReturnType<typeof nextPage> | null = nextPage(session); coming !== null;) {
    const page: HistoryPage | { readonly reason: string } = await coming
    if (session.leaving.signal.aborted) return
    if ('reason' in page) {
      session.reading = false
      // The loaded part stays visible. When the next event arrives, reading is tried again.
      if (session.view.read().load === 'loading') change(session, { load: 'failed', reason: page.reason })
      return
    }
    session.next = page.next
    // The server prepares the next page while this one is folded.
    coming = page.more || session.stale ? nextPage(session) : null
    takePage(session, page, !page.more)
  }
  session.reading = false
}

function nextPage(session: Session): ReturnType<HistorySource['page']> {
  session.stale = false
  return session.source.page(session.next, session.leaving.signal)
}

function takePage(session: Session, page: HistoryPage, isLast: boolean): void {
  const { engine, times } = session
  const from = page.items.length === 0 ? times.length : engine.add(page.items)
  const items = engine.items()
  times.length = Math.min(times.length, from)
  for (let index = from; index < items.length; index += 1) {
    const item = items[index]
    if (item) times.push(Date.parse(recordedAt(item)))
  }
  for (const item of page.items)
    if (item.kind === 'event' && item.event.type === 'WorkspaceChanged')
      session.changed.push(item.event.revision)
  const erased = session.view.read().erased + page.items.filter(isErased).length
  const load = isLast || session.view.read().load === 'loaded' ? 'loaded' : 'loading'
  const total = Math.max(page.total, items.length)
  const isDue = isLast || performance.now() - session.arrangedAt > arrangeIntervalMs
  change(session, {
    load,
    total,
    erased,
    missing: page.missing,
    count: items.length,
    ...(isDue && page.items.length > 0 ? arranged(session) : {}),
  })
  // If items at or before the shown moment have changed, it must be shown again.
  const { replay } = session.view.read()
  if (session.current && replay && from <= session.current.index) setMoment(session, replay.moment)
  openRequested(session)
}

function arranged(session: Session): Pick<HistoryView, 'sections' | 'markers' | 'axis'> {
  const events = session.engine.items().flatMap((item) => (item.kind === 'event' ? [item.event] : []))
  const sections = withOutput(timelineOf(events, session.names), session.engine.items())
  session.arrangedAt = performance.now()
  return { sections, markers: markersOf(sections), axis: timeAxisOf(session.times) }
}

function openRequested(session: Session): void {
  const { requested, engine } = session
  if (requested === null) return
  const index = indexOfMoment(engine.items(), requested)
  if (index >= 0) {
    session.requested = null
    change(session, arranged(session))
    show(session, index, positionAfter(session.view.read().axis, index, sinceEvent(requested)))
  } else if (session.view.read().load === 'loaded') {
    session.requested = null
    change(session, { isUnknownMoment: true })
  }
}

function setMoment(session: Session, moment: string): void {
  const index = indexOfMoment(session.engine.items(), moment)
  session.current = null
  show(session, index, positionAfter(session.view.read().axis, index, sinceEvent(moment)))
}

function seekIndex(session: Session, requested: number): void {
  const index = Math.max(0, Math.min(requested, session.engine.items().length - 1))
  show(session, index, session.view.read().axis.positions[index] ?? session.view.read().axis.length)
}

function seekPosition(session: Session, requested: number): void {
  const { axis } = session.view.read()
  const position = Math.max(0, Math.min(requested, axis.length))
  show(session, Math.max(0, indexAt(axis, position)), position)
}

/** Shows the task after the item at `index`. `position` is a place on the time axis, not before the item's own place. */
function show(session: Session, index: number, position: number): void {
  const { engine } = session
  const view = session.view.read()
  const items = engine.items()
  const item = items[index]
  if (item === undefined) return
  const time = timeAt(view.axis, position)
  const replayed = engine.seek(index, session.current ?? undefined)
  session.current = replayed
  session.replayed ??= createReplayView(session.live, replayed, () => undefined)
  session.replayed.show(replayed, wordsWrittenBy(items, index, time))
  const { playing = false } = view.replay ?? {}
  const { task, chat } = replayed.state.openTask
  const revision = task?.version ?? chat.at
  const turn = view.sections.findLast((section) => section.revision <= revision)?.number ?? null
  const changesAt = session.changed.findLast((at) => at <= revision) ?? null
  change(session, {
    replay: {
      index,
      moment: momentAfter(momentOf(item), time - (view.axis.times[index] ?? time)),
      position,
      time,
      revision,
      changesAt,
      turn,
      playing,
      speed: session.speed,
    },
    isUnknownMoment: false,
  })
}

function play(session: Session): void {
  const { axis, replay } = session.view.read()
  const isAtEnd = replay !== null && replay.position >= axis.length
  if (replay === null || isAtEnd) seekIndex(session, 0)
  const begun = session.view.read().replay
  if (begun === null) return
  change(session, { replay: { ...begun, playing: true } })
  session.stopFrame()
  let before: number | null = null
  const step = (now: number) => {
    const { replay, axis } = session.view.read()
    if (replay === null || !replay.playing) return
    const passed = before === null ? 0 : now - before
    before = now
    seekPosition(session, replay.position + passed * session.speed)
    if ((session.view.read().replay?.position ?? 0) >= axis.length) pause(session)
    else session.stopFrame = session.frame(step)
  }
  session.stopFrame = session.frame(step)
}

function pause(session: Session): void {
  session.stopFrame()
  const { replay } = session.view.read()
  if (replay?.playing) change(session, { replay: { ...replay, playing: false } })
}

/** Reads new items some time after the live task has changed. */
function followLive(session: Session): () => void {
  const versionOf = () => {
    const { task, seen } = selectOpenTask(session.live.getState())
    return `${seen} ${task?.version} ${task?.status}`
  }
  let known = versionOf()
  const readSoon = () => {
    if (session.followTimer !== undefined || session.leaving.signal.aborted) return
    session.followTimer = setTimeout(() => {
      session.followTimer = undefined
      session.stale = true
      void readOn(session)
    }, followDelayMs)
  }
  const stopFollowing = session.live.subscribe(() => {
    const version = versionOf()
    if (version === known) return
    known = version
    readSoon()
  })
  const stopPrinting = session.whenPrinted(readSoon)
  return () => {
    stopFollowing()
    stopPrinting()
  }
}
