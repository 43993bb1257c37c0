/** Compares the results of two verifiers for the same changed log or bundle. */
import { expect } from 'vitest'

export interface Said {
  readonly verdict: string
  /** The records at which a fault was found: `stream@revision`, or the stream alone. */
  readonly places: readonly string[]
  /** The verifier's messages, for people. */
  readonly words: readonly string[]
}

export interface Comparison {
  readonly tried: number
  /** How often both gave each verdict. */
  readonly verdicts: Readonly<Record<string, number>>
  /** How often each verdict was given, by kind of change. */
  readonly kinds: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** The number of changes for which both name records, at least one of them the same. */
  readonly samePlace: number
  /** The number of changes for which one verifier names no record but a line, the manifest or the file of seals. */
  readonly noPlace: number
  /**
   * The changes with different verdicts, or with no record in common although both name some. A record in common is the same stream, and the same
   * revision if both have one.
   */
  readonly disagreements: readonly string[]
}

const isSamePlace = (one: string, other: string): boolean =>
  one === other ||
  `${one}@` === other.slice(0, one.length + 1) ||
  `${other}@` === one.slice(0, other.length + 1)

/** Collects the results for each change. */
export function comparing() {
  const verdicts: Record<string, number> = {}
  const kinds: Record<string, Record<string, number>> = {}
  const disagreements: string[] = []
  let [tried, samePlace, noPlace] = [0, 0, 0]
  return {
    add(kind: string, ours: Said, theirs: Said): void {
      tried += 1
      const told = `${kind}: ours ${ours.verdict} [${ours.words.slice(0, 3).join('; ')}], theirs ${theirs.verdict} [${theirs.words.slice(0, 3).join('; ')}]`
      if (ours.verdict !== theirs.verdict) {
        disagreements.push(told)
        return
      }
      verdicts[ours.verdict] = (verdicts[ours.verdict] ?? 0) + 1
      const ofKind = (kinds[kind] ??= {})
      ofKind[ours.verdict] = (ofKind[ours.verdict] ?? 0) + 1
      if (ours.verdict !== 'not_whole') return
      if (ours.places.length === 0 || theirs.places.length === 0) noPlace += 1
      else if (ours.places.some((one) => theirs.places.some((other) => isSamePlace(one, other))))
        samePlace += 1
      else disagreements.push(`other record: ${told}`)
    },
    done: (): Comparison => ({ tried, verdicts, kinds, samePlace, noPlace, disagreements }),
  }
}

/**
 * Expects so many changes of each verdict, and so many for which both name a record, that a verifier with the same answer for all would be found out;
 * and that changes that do not matter left everything whole.
 */
export function expectTelling(
  { tried, verdicts, kinds, samePlace }: Comparison,
  { times, benign }: { readonly times: number; readonly benign: readonly string[] },
): void {
  expect(tried).toBe(times)
  const tame = benign.flatMap((kind): readonly Readonly<Record<string, number>>[] => {
    const ofKind = kinds[kind]
    return ofKind === undefined ? [] : [ofKind]
  })
  expect(tame.length).toBeGreaterThan(benign.length / 2)
  for (const ofKind of tame) expect(Object.keys(ofKind)).toEqual(['whole'])
  expect(verdicts.whole ?? 0).toBeGreaterThan(times / 10)
  expect(verdicts.not_whole ?? 0).toBeGreaterThan(times / 3)
  expect(samePlace).toBeGreaterThan(times / 6)
}
