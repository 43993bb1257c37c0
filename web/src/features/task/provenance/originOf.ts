/** Finds the turn that wrote a line of a diff, from the server's data about the file. Pure. */
import type { Provenance, TurnOfLines } from './provenanceApi.ts'

export type Origin =
  | { readonly kind: 'turn'; readonly turn: TurnOfLines }
  /** The line is older than the task, or somebody else wrote it. */
  | { readonly kind: 'unknown' }
  /** The file has changed since the end of the last turn, so line numbers may differ. */
  | { readonly kind: 'changed' }

/** `diff`: of the file, as shown. `line`: its number after the changes. */
export function originOf({ blob, ranges, turns }: Provenance, diff: string, line: number): Origin {
  const shown = /^index [0-9a-f]+\.\.([0-9a-f]+)/m.exec(diff)?.[1]
  if (blob === null || shown === undefined || !blob.startsWith(shown)) return { kind: 'changed' }
  const range = ranges.find(({ from, to }) => from <= line && line <= to)
  const turn = turns.find(({ executionId }) => executionId === range?.executionId)
  if (turn === undefined) return { kind: 'unknown' }
  return { kind: 'turn', turn: { ...turn, call: turn.calls.find(({ id }) => id === range?.callId) ?? null } }
}
