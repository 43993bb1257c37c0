/** A sorted list in blocks, so that adding to a long one costs hardly more than adding to a short one. */

const longestBlock = 512

/** The first of the numbers below `count` for which the test fails; it must hold for all numbers before that one. */
export function firstNot(count: number, test: (n: number) => boolean): number {
  let [from, to] = [0, count]
  while (from < to) {
    const middle = (from + to) >> 1
    if (test(middle)) from = middle + 1
    else to = middle
  }
  return from
}

export class SortedBlocks<T> {
  readonly #compare: (one: T, other: T) => number
  readonly #blocks: T[][] = []

  constructor(compare: (one: T, other: T) => number) {
    this.#compare = compare
  }

  add(item: T): void {
    const found = this.#place((other) => this.#compare(other, item) < 0)
    const end = found.block === this.#blocks.length
    const block = end ? Math.max(0, found.block - 1) : found.block
    const into = (this.#blocks[block] ??= [])
    into.splice(end ? into.length : found.at, 0, item)
    if (into.length > longestBlock) this.#blocks.splice(block + 1, 0, into.splice(longestBlock / 2))
  }

  remove(item: T): void {
    const { block, at } = this.#place((other) => this.#compare(other, item) < 0)
    const from = this.#blocks[block]
    from?.splice(at, 1)
    if (from?.length === 0) this.#blocks.splice(block, 1)
  }

  /** The items that are neither before nor after a span. The list must not change meanwhile. */
  *span(
    isBefore: (item: T) => boolean,
    isAfter: (item: T) => boolean,
    backwards: boolean,
  ): Generator<T, void> {
    const isPast = backwards ? isBefore : isAfter
    const first = this.#place(backwards ? (item) => !isAfter(item) : isBefore)
    const whole = backwards
      ? this.#blocks.slice(0, first.block + 1).reverse()
      : this.#blocks.slice(first.block)
    for (const items of whole) {
      const at = items === this.#blocks[first.block] ? first.at : undefined
      for (const item of backwards ? items.slice(0, at).reverse() : items.slice(at)) {
        if (isPast(item)) return
        yield item
      }
    }
  }

  /** The place of the first item for which the test fails. */
  #place(isBefore: (item: T) => boolean): { block: number; at: number } {
    const test = (items: readonly T[] | undefined, n: number) => {
      const item = items?.at(n)
      return item !== undefined && isBefore(item)
    }
    const block = firstNot(this.#blocks.length, (n) => test(this.#blocks[n], -1))
    return { block, at: firstNot(this.#blocks[block]?.length ?? 0, (n) => test(this.#blocks[block], n)) }
  }
}
