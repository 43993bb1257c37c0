/** Joins consecutive pieces of output, or of a message, into one item that states common fields once. */
import type { z } from 'zod'
import type * as schemas from '../api/history.schema.ts'
import { recordedAt, revisionOf, type HistoryItem, type TaskEventItem, type TerminalItem } from './item.ts'

export type JoinedItem = Readonly<z.infer<(typeof schemas)['JoinedItem']>>
type Difference = JoinedItem['more'][number]

/** The same history with its pieces joined. `separated` restores it exactly. */
export function joined(items: readonly HistoryItem[]): (TaskEventItem | JoinedItem)[] {
  const all: (TaskEventItem | JoinedItem)[] = []
  let before: TerminalItem | undefined
  let more: Difference[] = []
  for (const item of items) {
    if (item.kind === 'event') {
      all.push(item)
      before = undefined
      continue
    }
    const difference = before && differenceOf(before, item)
    if (difference === undefined) {
      more = []
      all.push({ kind: 'joined', first: item, more })
    } else more.push(difference)
    before = item
  }
  return all
}

/** The history with a separate item for each piece. */
export function separated(items: readonly (TaskEventItem | JoinedItem)[]): HistoryItem[] {
  const all: HistoryItem[] = []
  for (const item of items) {
    if (item.kind === 'event') {
      all.push(item)
      continue
    }
    let piece: TerminalItem = item.first
    let time = Date.parse(recordedAt(piece))
    all.push(piece)
    for (const difference of item.more) {
      time += difference.ms
      piece = following(piece, difference, time)
      all.push(piece)
    }
  }
  return all
}

/** How a piece differs from the piece before it; `undefined` when it differs in more than a joined item can say. */
function differenceOf(before: TerminalItem, item: TerminalItem): Difference | undefined {
  const [at, atBefore] = [recordedAt(item), recordedAt(before)]
  const step = stepOf(before, item)
  const isRegular =
    before.follows === item.follows &&
    revisionOf(item) === revisionOf(before) + 1 &&
    before.erased === undefined &&
    item.erased === undefined &&
    isWhole(at) &&
    isWhole(atBefore)
  if (!isRegular || step === undefined) return undefined
  const ms = Date.parse(at) - Date.parse(atBefore)
  if (before.kind === 'output' && item.kind === 'output') {
    const { type, executionId, shell } = item.output
    const isSame =
      type === before.output.type &&
      executionId === before.output.executionId &&
      shell?.rows === before.output.shell?.rows &&
      shell?.columns === before.output.shell?.columns &&
      shell?.ended === before.output.shell?.ended
    return isSame ? { text: item.output.content, ms, step } : undefined
  }
  if (before.kind !== 'delta' || item.kind !== 'delta' || !isWhole(item.begunAt)) return undefined
  const { messageId, executionId, text, offset } = item.delta
  const isSame =
    messageId === before.delta.messageId &&
    executionId === before.delta.executionId &&
    offset === before.delta.offset + before.delta.text.length
  const { chunks } = item
  return isSame ? { text, ms, step, begun: Date.parse(item.begunAt) - Date.parse(at), chunks } : undefined
}

/** The piece after `before`, made from the difference and the time of recording. */
function following(
  before: TerminalItem,
  { text, step, begun = 0, chunks = [] }: Difference,
  time: number,
): TerminalItem {
  const at = new Date(time).toISOString()
  if (before.kind === 'output') {
    const { output } = before
    const place = { position: positionAfter(output.position, step), version: output.version + 1 }
    return { ...before, output: { ...output, timestamp: at, content: text, ...place } }
  }
  const { delta } = before
  const place = { position: positionAfter(delta.position, step), version: delta.version + 1 }
  const offset = delta.offset + delta.text.length
  const begunAt = new Date(time + begun).toISOString()
  return { ...before, delta: { ...delta, offset, text, ...place }, at, begunAt, chunks }
}

/** By how much the position of a piece is larger than that of the piece before it; `undefined` for positions that exceed the safe integers. */
function stepOf(before: TerminalItem, item: TerminalItem): number | undefined {
  const position = Number(positionOf(item))
  return Number.isSafeInteger(position) ? position - Number(positionOf(before)) : undefined
}

const positionOf = (item: TerminalItem) => (item.kind === 'output' ? item.output : item.delta).position
const positionAfter = (position: string, step: number) => String(Number(position) + step)

/** Whether the time has exactly the form that `toISOString` returns. */
const isWhole = (at: string) => at.length === 24 && at.endsWith('Z')
