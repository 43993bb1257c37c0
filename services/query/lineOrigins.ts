/** Which tool call of a turn wrote lines of a file, as far as the recorded calls say. */
import type { LogDocument } from '#domain/views/log.ts'

export interface Writers {
  /** The edits of the turn that name this file. */
  readonly edits: readonly LogDocument[]
  /** How many other calls may have written any file. */
  readonly otherCalls: number
  /** The only call that can have written the lines; `null` where there are several, or none. */
  readonly only: LogDocument | null
}

/** Kinds of calls that write no file of the workspace. */
const reading: ReadonlySet<LogDocument['kind']> = new Set(['read', 'search', 'fetch', 'todo'])

/**
 * `calls`: those of the turn, oldest first. `isWhole`: all of them are among these; where it is not known, none can be the only one. An edit that
 * failed has written nothing, but a shell command that failed may have.
 */
export function writersOf(calls: readonly LogDocument[], path: string, isWhole: boolean): Writers {
  const edits = calls.filter(
    ({ kind, target, status }) => kind === 'edit' && target === path && status !== 'failed',
  )
  // A target that is erased may be any file.
  const others = calls.filter(
    ({ kind, target }) => !reading.has(kind) && (kind !== 'edit' || target === null),
  )
  const able = [...edits, ...others]
  const [first = null] = able
  return { edits, otherCalls: others.length, only: isWhole && able.length === 1 ? first : null }
}
