/**
 * The task at any moment of its history. Snapshots of the folded state are kept at regular intervals, so that a seek folds only a few hundred items,
 * however long the history is. Uses neither React nor a clock.
 */
import { revisionOf, type HistoryItem } from '#domain/history/item.ts'
import { withNewer } from '#domain/history/order.ts'
import {
  createWriter,
  markOf,
  write,
  writerAt,
  type Writer,
  type WriterMark,
} from '../terminal/log/terminalWriter.ts'
import { foldItems, nothingYet, type ReplayState, type TaskBase } from './replayState.ts'

/** The number of items between two snapshots, which is the most that a seek folds. */
export const snapshotEvery = 500

interface Snapshot {
  readonly count: number
  readonly state: ReplayState
  readonly terminal: WriterMark
}

/** The task at a moment, with its terminal. When the replay continues from here, it appends to this terminal. */
export interface Replayed {
  /** The index of the last folded item; `-1` before the first. */
  readonly index: number
  readonly state: ReplayState
  readonly writer: Writer
}

export type ReplayEngine = ReturnType<typeof createReplayEngine>

const start = (): Replayed => ({ index: -1, state: nothingYet, writer: createWriter() })

/** Makes a replay engine; `every` is the number of items between two snapshots. */
export function createReplayEngine(base: TaskBase, every = snapshotEvery) {
  const snapshots: Snapshot[] = []
  let items: readonly HistoryItem[] = []
  /** The task at the last snapshot; before the first item while there is no snapshot. */
  let end = start()
  /** For each revision of the task's stream from `firstRevision` on, the index of its event in `items`. */
  let places: number[] = []
  let firstRevision = 0

  /** Folds further items. `writer` is changed in place, so each state may be continued only once. */
  const fold = ({ index, state, writer }: Replayed, to: number): Replayed => ({
    index: to,
    state: foldItems(state, items.slice(index + 1, to + 1), base, (output) => write(writer, output)),
    writer,
  })
  const restored = ({ count, state, terminal }: Snapshot): Replayed => ({
    index: count - 1,
    state,
    writer: writerAt(terminal, end.writer.lines),
  })
  /** Drops the state that was folded beyond the first `count` items. */
  const rewind = (count: number) => {
    if (end.index < count) return
    while ((snapshots.at(-1)?.count ?? 0) > count) snapshots.pop()
    const last = snapshots.at(-1)
    end = last === undefined ? start() : restored(last)
  }
  const advance = () => {
    for (let next = end.index + every; next < items.length; next = end.index + every) {
      end = fold(end, next)
      snapshots.push({ count: next + 1, state: end.state, terminal: markOf(end.writer) })
    }
  }
  const place = (from: number) => {
    if (from === 0) {
      const first = items.find(({ kind }) => kind === 'event')
      firstRevision = first === undefined ? 0 : revisionOf(first)
      places = []
    }
    for (let index = from; index < items.length; index += 1) {
      const item = items[index]
      if (item?.kind === 'event') places[item.event.revision - firstRevision] = index
    }
  }

  return {
    /** All loaded items in order; a new array whenever there are more. */
    items: () => items,
    /** Adds newer items. Returns the index of the first item that is new or has moved. */
    add(newer: readonly HistoryItem[]): number {
      const added = withNewer(items, newer)
      items = added.items
      rewind(added.from)
      place(added.from)
      advance()
      return added.from
    },
    /** The task after the item with the index `requested`. Continues from the state `from` if `from` is near and not later. */
    seek(requested: number, from?: Replayed): Replayed {
      const index = Math.max(-1, Math.min(requested, items.length - 1))
      const snapshot = snapshots[Math.floor((index + 1) / every) - 1]
      const isNear = from !== undefined && from.index <= index && index - from.index <= every
      if (isNear) return fold(from, index)
      return fold(snapshot === undefined ? start() : restored(snapshot), index)
    },
    /** The index of an event of the task's stream by its revision; `-1` when it is not loaded. */
    indexOfRevision: (revision: number) => places[revision - firstRevision] ?? -1,
  }
}
