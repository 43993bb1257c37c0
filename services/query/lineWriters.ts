/** Finds which tool calls of a turn wrote the lines of a file, according to the recorded calls. */
import type { LogDocument } from '#domain/views/commandLog.ts'
import { lineHash } from '#platform/hashes.ts'
import { redacted } from '#platform/redaction/scan.ts'

export interface Writers {
  /** The turn's edits of the file. */
  readonly edits: readonly LogDocument[]
  /** The number of other calls that may have written to the file, such as shell commands. */
  readonly otherCalls: number
  /** For each line, the call that wrote it; `null` if several calls may have written it, and if no call is found. */
  readonly calls: readonly (LogDocument | null)[]
}

/** The kinds of calls that do not write files in the workspace. */
const reading: ReadonlySet<LogDocument['kind']> = new Set([
  'read',
  'search',
  'fetch',
  'todo',
  'thinking',
  'said',
  'artifact',
])

interface LinesQuery {
  /** The file's path when the turn ended. */
  readonly path: string
  /** The hash of each line of the turn, as made by `lineHash`; `null` for a line whose text is not known. */
  readonly lines: readonly (string | null)[]
  /** Whether all calls of the turn are known. Otherwise the result names no call for any line. */
  readonly isWhole: boolean
}

/**
 * Finds the calls that wrote the lines. `calls` has the calls of the turn, oldest first. A failed edit has written nothing, but a failed shell
 * command may have. A line belongs to the edit whose recorded diff adds it. Otherwise it belongs to the only call that may have written it, if there
 * is only one.
 */
export function writersOf(calls: readonly LogDocument[], { path, lines, isWhole }: LinesQuery): Writers {
  const done = calls.filter(({ kind, status }) => kind === 'edit' && status !== 'failed')
  const edits = done.filter(({ target }) => target === path)
  // Calls that may have written to the file without naming it. An edit whose target was erased may have written to any file.
  const others = calls.filter(
    ({ kind, target }) => !reading.has(kind) && (kind !== 'edit' || target === null),
  )
  const writing = [...edits, ...renamedBefore(done, { path, lines, others })].map((call) => ({
    call,
    ...linesAdded(call),
  }))
  const unsaid = [...writing.filter(({ isAll }) => !isAll).map(({ call }) => call), ...others]
  const able = unsaid.length > 0 ? unsaid : edits
  const [fallback = null] = able.length === 1 ? able : []
  const writerOf = (line: string | null) => {
    const added = writing.filter((each) => line !== null && each.added.has(line))
    if (added.length > 1) return null
    // A line without letters and digits, such as a bracket, proves nothing, because any call may have written the same line.
    const [only] = added.filter(({ added }) => others.length === 0 || added.get(line ?? '') === 'words')
    if (only !== undefined) return only.call
    return added.length === 0 ? fallback : null
  }
  return { edits, otherCalls: others.length, calls: lines.map((line) => (isWhole ? writerOf(line) : null)) }
}

/**
 * The edits of the file under an earlier name, if a later call may have renamed it. The earlier name is that of the edited file that shares the most
 * lines with this file, at least half of them, as in git's detection of renames.
 */
function renamedBefore(
  done: readonly LogDocument[],
  { path, lines, others }: Pick<LinesQuery, 'path' | 'lines'> & { readonly others: readonly LogDocument[] },
): readonly LogDocument[] {
  const byTarget = new Map<string | null, LogDocument[]>()
  for (const edit of done)
    if (edit.target !== path && others.some(({ order }) => order > edit.order))
      byTarget.set(edit.target, [...(byTarget.get(edit.target) ?? []), edit])
  const found = [...byTarget.values()].map((edits) => {
    const added = edits.map((edit) => linesAdded(edit).added)
    return { edits, same: lines.filter((line) => added.some((each) => each.has(line ?? ''))).length }
  })
  const best = found.reduce((one, other) => (other.same > one.same ? other : one), { edits: [], same: 0 })
  return best.same * 2 >= Math.max(1, lines.length) ? best.edits : []
}

/** Matches the line that stands in a recorded output in place of a part that was left out. */
const cut = /^… \d+ characters left out …$/m

/**
 * The hashes of the lines that an edit added, according to its recorded diff; `signs` marks lines without letters and digits. `isAll` says whether
 * the diff is complete.
 */
function linesAdded({ output }: Pick<LogDocument, 'output'>): {
  readonly added: ReadonlyMap<string, 'words' | 'signs'>
  readonly isAll: boolean
} {
  const at = output?.search(/^@@ /m) ?? -1
  const diff = at === -1 ? '' : (output ?? '').slice(at)
  const added = diff
    .split('\n')
    .filter((line) => line.startsWith('+'))
    .map((line) => [lineHash(line.slice(1)), /[\p{L}\p{N}]/u.test(line) ? 'words' : 'signs'] as const)
  return { added: new Map(added), isAll: diff !== '' && !cut.test(diff) && !diff.includes(redacted) }
}
