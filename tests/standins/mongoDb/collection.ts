/** A collection in memory, with indexes that are kept sorted and used for every search. */
import { SortedBlocks } from './sortedBlocks.ts'
import { listOf, matches, type Condition, type Query } from './query.ts'
import { compareValues, Refused, valueAt, type Fields } from './values.ts'

/** Paths, each with its direction. */
export type Order = readonly (readonly [path: string, direction: 1 | -1])[]

export interface Search {
  readonly query: Query
  readonly sort?: Order
  readonly skip?: number
  /** 0 means no limit. */
  readonly limit?: number
}

interface Entry {
  readonly values: readonly unknown[]
  document: Fields
}

export class Collection {
  readonly #namespace: string
  readonly #indexes: Index[] = [new Index('_id_', [['_id', 1]], true)]

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  createIndex(name: string, order: Order, isUnique: boolean): void {
    const [ids] = this.#indexes
    const known = this.#indexes.find((index) => index.name === name)
    if (known?.isUnique === isUnique && JSON.stringify(known.order) === JSON.stringify(order)) return
    if (known) throw new Refused(86, 'IndexKeySpecsConflict', `There is another index ${name}.`)
    const index = new Index(name, order, isUnique)
    for (const { document } of ids?.span([], [], false) ?? []) {
      this.#checkUnique(index, document, undefined)
      index.put(undefined, document)
    }
    this.#indexes.push(index)
  }

  /** Inserts, replaces or deletes a document. Throws, and changes nothing, when a unique index does not allow it. */
  put(before: Fields | undefined, after: Fields | undefined): void {
    if (after) for (const index of this.#indexes) this.#checkUnique(index, after, before)
    for (const index of this.#indexes) index.put(before, after)
  }

  /** The documents that match, and how many were looked at. */
  search({ query, sort = [], skip = 0, limit = 0 }: Search): { found: Fields[]; examined: number } {
    const [first, ...others] = this.#indexes.map((index) => planOf(index, query, sort))
    if (!first) throw new Error('Every collection has an index on its ids.')
    const plan = others.reduce((best, other) => (other.rank > best.rank ? other : best), first)
    const most = limit === 0 ? Infinity : skip + limit
    const found: Fields[] = []
    let examined = 0
    for (const [low, high] of plan.spans)
      for (const { document } of plan.index.span(low, high, plan.isBackwards)) {
        examined += 1
        if (matches(document, query)) found.push(document)
        if (plan.isInOrder && found.length === most) return { found: found.slice(skip), examined }
      }
    if (!plan.isInOrder)
      found.sort((one, other) => {
        for (const [path, direction] of sort) {
          const order = compareValues(valueAt(one, path), valueAt(other, path))
          if (order !== 0) return order * direction
        }
        return 0
      })
    return { found: found.slice(skip, most), examined }
  }

  #checkUnique(index: Index, document: Fields, replaced: Fields | undefined): void {
    const values = index.valuesOf(document)
    if (!index.isUnique) return
    const wanted = values.slice(0, index.order.length)
    for (const { document: other } of index.span(wanted, wanted, false)) {
      if (other === replaced) continue
      const keyValue = Object.fromEntries(index.order.map(([path], n) => [path, wanted[n] ?? null]))
      throw new Refused(
        11_000,
        'DuplicateKey',
        `E11000 duplicate key error collection: ${this.#namespace} index: ${index.name} dup key: ${JSON.stringify(keyValue)}`,
        { keyPattern: Object.fromEntries(index.order), keyValue },
      )
    }
  }
}

class Index {
  readonly name: string
  readonly order: Order
  readonly isUnique: boolean
  /** The order with the id at its end, which makes every entry distinct. */
  readonly whole: Order
  readonly #entries = new SortedBlocks<Entry>((one, other) => this.#compare(one, other.values))

  constructor(name: string, order: Order, isUnique: boolean) {
    this.name = name
    this.order = order
    this.isUnique = isUnique
    this.whole = order.some(([path]) => path === '_id') ? order : [...order, ['_id', 1]]
  }

  valuesOf(document: Fields): readonly unknown[] {
    return this.whole.map(([path]) => valueAt(document, path))
  }

  put(before: Fields | undefined, after: Fields | undefined): void {
    const old = before && this.valuesOf(before)
    const values = after && this.valuesOf(after)
    if (old && after && compareValues(old, values) === 0) {
      for (const entry of this.span(old, old, false)) entry.document = after
      return
    }
    if (before && old) this.#entries.remove({ values: old, document: before })
    if (after && values) this.#entries.add({ values, document: after })
  }

  /** The entries from the first values to the last ones, both included, which may name only the first paths. */
  span(low: readonly unknown[], high: readonly unknown[], isBackwards: boolean): Iterable<Entry> {
    return this.#entries.span(
      (entry) => this.#compare(entry, low) < 0,
      (entry) => this.#compare(entry, high) > 0,
      isBackwards,
    )
  }

  #compare({ values }: Entry, wanted: readonly unknown[]): number {
    for (const [n, value] of wanted.entries()) {
      const order = compareValues(values[n], value)
      if (order !== 0) return order * (this.whole[n]?.[1] ?? 1)
    }
    return 0
  }
}

interface Plan {
  readonly index: Index
  readonly spans: readonly (readonly [low: readonly unknown[], high: readonly unknown[]])[]
  readonly isBackwards: boolean
  /** Whether the spans give the documents as they are to be sorted. */
  readonly isInOrder: boolean
  /** How much the index helps. */
  readonly rank: number
}

/** How an index serves a query: by the equality of its first paths, then by a range of the next one, then by its order. */
function planOf(index: Index, { conditions }: Query, sort: Order): Plan {
  const at = (path: string | undefined, ...operators: Condition['operator'][]) =>
    conditions.find((condition) => condition.path === path && operators.includes(condition.operator))
  let prefixes: (readonly unknown[])[] = [[]]
  const unequal = index.whole.findIndex(([path]) => at(path, '$eq', '$in') === undefined)
  const equal = unequal === -1 ? index.whole.length : unequal
  for (const [path] of index.whole.slice(0, equal)) {
    const condition = at(path, '$eq', '$in')
    const values = condition?.operator === '$in' ? listOf(condition.value) : [condition?.value]
    prefixes = prefixes.flatMap((prefix) => values.map((value) => [...prefix, value]))
  }
  const [path, direction] = index.whole[equal] ?? []
  const bounds = [at(path, '$gt', '$gte'), at(path, '$lt', '$lte')].map((bound) =>
    bound ? [bound.value] : [],
  )
  const [low = [], high = []] = direction === -1 ? bounds.toReversed() : bounds
  const rest = index.whole.slice(equal)
  const left = sort.filter(([path]) => at(path, '$eq') === undefined)
  const ways = left.map(([path, direction], n) => (rest[n]?.[0] === path ? direction * rest[n][1] : 0))
  const isInOrder = ways.length === 0 || (prefixes.length < 2 && Math.abs(sum(ways)) === ways.length)
  return {
    index,
    spans: prefixes.map((prefix) => [
      [...prefix, ...low],
      [...prefix, ...high],
    ]),
    isBackwards: ways[0] === -1,
    isInOrder,
    rank: equal * 4 + (low.length + high.length > 0 ? 2 : 0) + (isInOrder ? 1 : 0),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
