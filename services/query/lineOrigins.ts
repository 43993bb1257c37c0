/** Finds the tool calls of a turn that wrote the lines of a file, as far as recorded calls show it. */
import type { LogDocument } from '#domain/views/commandLog.ts'
import { lineHash } from '#platform/hashes.ts'
import { redacted } from '#platform/redaction/scan.ts'

export interface Writers {
  /** The turn's edits that name this file. */
  readonly edits: readonly LogDocument[]
  /** How many other calls may have written to any file. */
  readonly otherCalls: number
  /** For each line, the call that wrote it; `null` if several may have, or if none is found. */
  readonly calls: readonly (LogDocument | null)[]
}

/** Kinds of calls that do not write files of the workspace. */
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
  /** The turn's lines as `lineHash`; `null` for a line of which only the number is known. */
  readonly lines: readonly (string | null)[]
  /** Whether `calls` has all calls of the turn. Otherwise no call is named. */
  readonly isWhole: boolean
}

/**
 * Finds the calls. `calls` are those of the turn, oldest first. An edit that failed has written nothing, but a shell command that failed may have. A
 * line belongs to the edit whose recorded change adds it, and otherwise to the only call that may have written it.
 */
export function writersOf(calls: readonly LogDocument[], { path, lines, isWhole }: LinesQuery): Writers {
  const done = calls.filter(({ kind, status }) => kind === 'edit' && status !== 'failed')
  const edits = done.filter(({ target }) => target === path)
  // A call whose target was erased may have written to any file.
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
    // A line without letters and digits may come from any call, so it is no evidence.
    const [only] = added.filter(({ added }) => others.length === 0 || added.get(line ?? '') === 'words')
    if (only !== undefined) return only.call
    return added.length === 0 ? fallback : null
  }
  return { edits, otherCalls: others.length, calls: lines.map((line) => (isWhole ? writerOf(line) : null)) }
}

/**
 * Edits of the file under an earlier name, if a later call of the turn renamed it: the edits that have the most of its lines, if these are at least
 * half, as in git's detection of renames.
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

/** The mark where a part of a text was left out. */
const cut = /^… \d+ characters left out …$/m

/** The lines that an edit added, as `lineHash`, according to its recorded diff. `isAll` says whether these are all of them. */
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
