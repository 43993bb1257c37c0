/** The places of line comments: the hunk of the diff for which a comment was written, and its line after new commits. */
import { LRUCache } from 'lru-cache'
import type { Bare } from '../git/bareRepository.ts'
import { readDiff, type DiffFile } from '../git/diffLines.ts'
import type { PullRequest } from '../state/stateSchema.ts'
import type { ReviewComment } from '../state/reviewRecords.ts'

/** A line of a file in a diff: of the old file (`LEFT`) or of the new file (`RIGHT`). */
export interface Spot {
  readonly path: string
  readonly side: 'LEFT' | 'RIGHT'
  readonly line: number
}

/** The current place of a comment. `line` is `null` when the diff does not show the line any more, so that the comment is outdated. */
export interface Place {
  readonly line: number | null
  readonly startLine: number | null
  /** The comment's distance in lines from the header of the file's first hunk, as GitHub counts; `null` when the comment is outdated. */
  readonly position: number | null
  readonly commitId: string
}

/** The beginning of a hunk up to a line. `position` is the line's distance in lines from the header of the file's first hunk. */
export interface Hunk {
  readonly text: string
  readonly position: number
}

const diffLimit = 4 * 1024 * 1024
const mostLines = 200_000

export interface Lines {
  /** The beginning of the hunk with the line `spot`, up to this line; `undefined` when the diff does not show the line. */
  hunk(
    bare: Bare,
    range: { readonly base: string; readonly head: string },
    spot: Spot,
  ): Promise<Hunk | undefined>
  /** The place of a comment in the current state of its pull request. */
  place(bare: Bare, pull: PullRequest, comment: ReviewComment): Promise<Place>
}

/** Creates the functions that find places. They cache diffs by the hashes of commits, because the diff between two commits never changes. */
export function createLines(): Lines {
  const diffs = new LRUCache<string, Promise<readonly DiffFile[]>>({ max: 30 })
  const changes = new LRUCache<string, Promise<readonly Change[] | undefined>>({ max: 1_000 })

  const filesOf = (bare: Bare, base: string, head: string) =>
    remembered(diffs, `${bare.dir} ${base} ${head}`, async () => {
      const { text } = await bare.diff(base, head, diffLimit)
      return readDiff(text, mostLines).files
    })
  const changesOf = (bare: Bare, range: { readonly from: string; readonly to: string }, path: string) =>
    remembered(changes, `${bare.dir} ${range.from} ${range.to} ${path}`, async () => {
      const text = await bare.changes(range.from, range.to, path)
      return text === undefined ? undefined : readChanges(text)
    })
  const hunk: Lines['hunk'] = async (bare, { base, head }, spot) => {
    const files = await filesOf(bare, base, head)
    const file = files.find(({ path }) => path === spot.path)
    return file && hunkIn(file, spot)
  }

  return {
    hunk,
    place: async (bare, pull, comment) => {
      const { path, side } = comment
      const now =
        side === 'RIGHT' ? pull.headSha : ((await bare.mergeBase(pull.baseSha, pull.headSha)) ?? pull.baseSha)
      const from = side === 'RIGHT' ? comment.commitId : comment.baseId
      const moved = from === now ? [] : await changesOf(bare, { from, to: now }, path)
      const line = moved && lineAfter(moved, comment.line)
      const range = { base: pull.baseSha, head: pull.headSha }
      const shown = line === undefined ? undefined : await hunk(bare, range, { path, side, line })
      if (line === undefined || shown === undefined)
        return { line: null, startLine: null, position: null, commitId: comment.commitId }
      const startLine =
        comment.startLine === null ? null : (lineAfter(moved ?? [], comment.startLine) ?? null)
      return { line, startLine, position: shown.position, commitId: pull.headSha }
    },
  }
}

async function remembered<Value>(
  kept: LRUCache<string, Promise<Value>>,
  key: string,
  read: () => Promise<Value>,
): Promise<Value> {
  const known = kept.get(key)
  if (known) return known
  const reading = read()
  kept.set(key, reading)
  // A reading that failed with an error is not cached, so that the next request repeats it.
  reading.catch(() => kept.delete(key))
  return reading
}

const signs = { added: '+', deleted: '-', same: ' ' } as const

function hunkIn(file: DiffFile, { side, line: wanted }: Spot): Hunk | undefined {
  let lines: string[] = []
  let position = -1
  for (const { kind, text, oldLine, newLine } of file.lines) {
    if (kind === 'hunk') {
      lines = [text]
      position += 1
    } else if (kind !== 'note') {
      lines.push(signs[kind] + text)
      position += 1
      if ((side === 'LEFT' ? oldLine : newLine) === wanted) return { text: lines.join('\n'), position }
    }
  }
  return undefined
}

/** A range of lines that was replaced. If `oldCount` is 0, lines were only inserted, right after the line `oldStart`. */
interface Change {
  readonly oldStart: number
  readonly oldCount: number
  readonly newCount: number
}

/** Parses a diff without context lines into the replaced ranges. */
export function readChanges(text: string): readonly Change[] {
  return [...text.matchAll(/^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/gm)].map(
    ([, oldStart, oldCount = '1', newCount = '1']) => ({
      oldStart: Number(oldStart),
      oldCount: Number(oldCount),
      newCount: Number(newCount),
    }),
  )
}

/** The number that a line has after the changes; `undefined` when the line was replaced or deleted. */
export function lineAfter(changes: readonly Change[], line: number): number | undefined {
  let after = line
  for (const { oldStart, oldCount, newCount } of changes) {
    const isInsertion = oldCount === 0
    if (!isInsertion && line >= oldStart && line < oldStart + oldCount) return undefined
    if (isInsertion ? line > oldStart : line >= oldStart + oldCount) after += newCount - oldCount
  }
  return after
}
