/** The recorded changes in a saved replay: each version of a file is stored once, up to a limit. */
import type { ChangedFile, GitDiff } from '#domain/api/tasks.schema.ts'
import type { HistoryItem } from '#domain/history/item.ts'
import type { HistorySource, RecordedChanges } from '../history/readHistory.ts'
import { texts } from './texts.ts'

/** The changes at one moment; `files` are indexes into `SavedChanges.files`. */
interface SavedDiff {
  readonly revision: number
  readonly diff: Omit<GitDiff, 'changedFiles'>
  readonly files: readonly number[]
  readonly kept: boolean
}

export interface SavedChanges {
  readonly files: readonly ChangedFile[]
  readonly diffs: readonly SavedDiff[]
  /** The number of moments whose changes are not in the file. */
  readonly leftOut: number
}

export interface SavedChangesLimits {
  readonly moments: number
  /** The total length of the stored files as JSON, in UTF-16 code units. */
  readonly length: number
}

const usualLimits: SavedChangesLimits = { moments: 500, length: 12_000_000 }
const readAtOnce = 4

/** Reads the changes at the ends of turns first, and among those the newest first. */
export async function readSavedChanges(
  source: Pick<HistorySource, 'changes'>,
  items: readonly HistoryItem[],
  signal: AbortSignal,
  limits = usualLimits,
): Promise<SavedChanges> {
  const { revisions, total } = momentsOf(items, limits.moments)
  const files: ChangedFile[] = []
  const places = new Map<string, number>()
  const diffs: SavedDiff[] = []
  let length = 0
  /** Adds all changes of a moment or, without room for all, none. */
  const add = (revision: number, { diff: { changedFiles, ...diff }, kept }: RecordedChanges) => {
    const keys = changedFiles.map((file) => JSON.stringify(file))
    const more = keys.reduce((sum, key) => sum + (places.has(key) ? 0 : key.length), 0)
    if (length + more > limits.length) return
    length += more
    const at = keys.map((key, index) => {
      const file = changedFiles[index]
      if (!places.has(key) && file !== undefined) places.set(key, files.push(file) - 1)
      return places.get(key) ?? 0
    })
    diffs.push({ revision, diff, files: at, kept })
  }
  for (let from = 0; from < revisions.length && !signal.aborted; from += readAtOnce) {
    const batch = revisions.slice(from, from + readAtOnce)
    const answers = await Promise.all(batch.map(async (revision) => source.changes(revision)))
    for (const [index, answer] of answers.entries()) if (!('reason' in answer)) add(batch[index] ?? 0, answer)
  }
  return { files, diffs, leftOut: total - diffs.length }
}

/** The revisions with recorded changes: first the last revision of each turn, then the others. Both groups begin with the newest. */
function momentsOf(
  items: readonly HistoryItem[],
  maxMoments: number,
): { readonly revisions: readonly number[]; readonly total: number } {
  const lastOfTurn = new Map<string, number>()
  const all: number[] = []
  for (const item of items) {
    if (item.kind !== 'event' || item.event.type !== 'WorkspaceChanged') continue
    all.push(item.event.revision)
    lastOfTurn.set(item.event.data.executionId, item.event.revision)
  }
  const ends = new Set(lastOfTurn.values())
  const others = all.filter((revision) => !ends.has(revision))
  return {
    revisions: [...[...ends].toSorted((one, other) => other - one), ...others.toReversed()].slice(
      0,
      maxMoments,
    ),
    total: all.length,
  }
}

/** The changes at a moment, or the reason why they are not in the file. */
export function savedChangesAt(
  { files, diffs, leftOut }: SavedChanges,
  revision: number,
): RecordedChanges | { readonly reason: string } {
  const saved = diffs.find((each) => each.revision === revision)
  if (saved === undefined) return { reason: texts.changesLeftOut(diffs.length, diffs.length + leftOut) }
  const changedFiles = saved.files.flatMap((at) => files[at] ?? [])
  return { diff: { ...saved.diff, changedFiles }, kept: saved.kept }
}
