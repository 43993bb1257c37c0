/** Which tool calls of a turn wrote lines of a file, as far as the recorded calls say. */
import type { LogDocument } from '#domain/views/log.ts'
import { lineHash } from '#platform/hashes.ts'
import { redacted } from '#platform/redaction/scan.ts'

export interface Writers {
  /** The edits of the turn that name this file. */
  readonly edits: readonly LogDocument[]
  /** How many other calls may have written any file. */
  readonly otherCalls: number
  /** For each line, the call that wrote it; `null` if several can have, or none. */
  readonly calls: readonly (LogDocument | null)[]
}

/** Kinds of calls that write no file of the workspace. */
const reading: ReadonlySet<LogDocument['kind']> = new Set(['read', 'search', 'fetch', 'todo', 'thinking'])

interface LinesQuery {
  /** The file's path when the turn ended. */
  readonly path: string
  /** The turn's lines, by `lineHash`; `null` where only their number is known. */
  readonly lines: readonly (string | null)[]
  /** All calls of the turn are among those given; where that is not known, no call is named. */
  readonly isWhole: boolean
}

/**
 * `calls`: those of the turn, oldest first. An edit that failed has written nothing, but a shell command that failed may have. A line belongs to
 * the edit whose recorded change adds it, and otherwise to the only call that can have written it.
 */
export function writersOf(calls: readonly LogDocument[], { path, lines, isWhole }: LinesQuery): Writers {
  const done = calls.filter(({ kind, status }) => kind === 'edit' && status !== 'failed')
  const edits = done.filter(({ target }) => target === path)
  // A target that is erased may be any file.
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
    // A line without letters and digits may come from any call.
    const [only] = added.filter(({ added }) => others.length === 0 || added.get(line ?? '') === 'words')
    if (only !== undefined) return only.call
    return added.length === 0 ? fallback : null
  }
  return { edits, otherCalls: others.length, calls: lines.map((line) => (isWhole ? writerOf(line) : null)) }
}

/**
 * Edits of the file under an earlier name, if a later call of the turn renamed it: those with the most of its lines, if these are at least half, as
 * in git's detection of renames.
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

/** The marker for what was left out of a text. */
const cut = /^… \d+ characters left out …$/m

/** The lines that an edit added, by `lineHash`, as the diff that it recorded says. `isAll`: they are all of them. */
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
