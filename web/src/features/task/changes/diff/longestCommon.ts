/** The longest common subsequence of two lists of texts. Pure. */

/** Index pairs of equal texts, in the order of both lists. Time and memory grow with the product of the lengths. */
export function longestCommon(
  a: readonly string[],
  b: readonly string[],
): readonly (readonly [one: number, other: number])[] {
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  const length = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        a[i] === b[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1))
  const pairs: (readonly [number, number])[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) {
      pairs.push([i, j])
      i += 1
      j += 1
    } else if (length(i + 1, j) >= length(i, j + 1)) i += 1
    else j += 1
  }
  return pairs
}
