/** Which turn wrote a line of a diff, of what the server knows about the file. Pure. */
import type { Provenance, TurnOfLines } from './provenanceApi.ts'

export type Origin =
  | { readonly kind: 'turn'; readonly turn: TurnOfLines }
  /** It was there before the task, or came from others. */
  | { readonly kind: 'unknown' }
  /** The file is another than at the end of the last turn: its lines may have other numbers. */
  | { readonly kind: 'changed' }

/** `diff`: of the file, as it is shown. `line`: a number after the changes. */
export function originOf({ blob, ranges, turns }: Provenance, diff: string, line: number): Origin {
  const shown = /^index [0-9a-f]+\.\.([0-9a-f]+)/m.exec(diff)?.[1]
  if (blob === null || shown === undefined || !blob.startsWith(shown)) return { kind: 'changed' }
  const range = ranges.find(({ from, to }) => from <= line && line <= to)
  const turn = turns.find(({ executionId }) => executionId === range?.executionId)
  if (turn === undefined) return { kind: 'unknown' }
  return { kind: 'turn', turn: { ...turn, call: turn.calls.find(({ id }) => id === range?.callId) ?? null } }
}
