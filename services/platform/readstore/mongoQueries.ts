/** Translates queries and field names of the read store port to MongoDB. Names are checked, and values never become operators. */
import type { Find, Document } from '../ports/readStore.ts'

type Value = string | number | boolean | null
type Condition = Value | { readonly [operator: `$${string}`]: Value | readonly Value[] }
export interface Filter {
  [field: string]: Condition | Filter[]
}

/** MongoDB's name for a collection. Throws for a name that is not a plain word. */
export function collectionOf(collection: string): string {
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(collection))
    throw new RangeError(`${collection} is no name for a collection.`)
  return `docs_${collection}`
}

/** Our name for a collection of the database; `undefined` when the collection is not ours. */
export function nameStoredAs(collection: string): string | undefined {
  return /^docs_(.+)$/.exec(collection)?.[1]
}

/** The keys of an index: equality fields, the sort field, then the id as a tie-breaker. Empty when the index on ids suffices. */
export function indexOf(fields: readonly string[]): Map<string, 1> {
  const keys = fields.filter((field) => field !== 'id').map(keyOf)
  return new Map(keys.length === 0 ? [] : [...keys, '_id'].map((key) => [key, 1]))
}

/** The filter for `where`, which also excludes removed documents. */
export function filterOf(where: Find['where']): Filter {
  const filter: Filter = {}
  for (const [field, value] of Object.entries(where)) {
    filter[keyOf(field)] = Array.isArray(value) ? { $in: value } : { $eq: value }
  }
  // A removed document has no fields. So if `where` requires a value in a field, the filter needs no condition on `document`, and an index alone can
  // serve a count.
  const isPresent = Object.entries(where).some(([field, value]) => field !== 'id' && value !== null)
  return isPresent ? filter : { ...filter, document: { $exists: true } }
}

/** The query for a page. A suitable index can serve this query completely. */
export function pageOf({ where, sort, after }: Find): { filter: Filter; sort: Map<string, 1 | -1> } {
  const direction = sort.direction === 'ascending' ? 1 : -1
  const field = keyOf(sort.field)
  const order = new Map([[field, direction] as const, ['_id', direction] as const])
  return { filter: after === undefined ? filterOf(where) : allOf(filterOf(where), place()), sort: order }

  function place(): Filter {
    const [comes, comesOrIs] = direction === 1 ? (['$gt', '$gte'] as const) : (['$lt', '$lte'] as const)
    const { id, value } = after ?? { id: '', value: '' }
    if (field === '_id') return { _id: { [comes]: id } }
    // The first condition limits the range of the index; the second excludes ties up to the last document of the previous page.
    return {
      [field]: { [comesOrIs]: value },
      $or: [{ [field]: { [comes]: value } }, { _id: { [comes]: id } }],
    }
  }
}

function allOf(...filters: Filter[]): Filter {
  return { $and: filters }
}

function keyOf(field: string): string {
  if (!/^[A-Za-z][A-Za-z0-9_.]*$/.test(field)) throw new RangeError(`${field} is no name for a field.`)
  return field === 'id' ? '_id' : `document.${field}`
}

/** The document with all keys in a form that can be stored; the same object when all keys already have this form. */
export function escaped(document: Document): { readonly document: Document; readonly hasEscapedKeys?: true } {
  return canBeStored(document)
    ? { document }
    : { document: renamed(document, (key) => key.replace(special, codeOf)), hasEscapedKeys: true }
}

/** Reverses `escaped`. */
export function unescaped(document: Document): Document {
  return renamed(document, decodeURIComponent)
}

const special = /[$.%\0]|^__proto__$/g

function codeOf(found: string): string {
  return `%${found.charCodeAt(0).toString(16).padStart(2, '0')}${found.slice(1)}`
}

function canBeStored(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(canBeStored)
  return Object.entries(value).every(([key, each]) => key.search(special) === -1 && canBeStored(each))
}

/** A copy of the document with renamed keys. The key `id` is never renamed. */
function renamed(document: Document, rename: (key: string) => string): Document {
  return { ...entriesOf(document, rename), id: document.id }
}

function entriesOf(value: object, rename: (key: string) => string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [rename(key), renamedIn(each, rename)]),
  )
}

function renamedIn(value: unknown, rename: (key: string) => string): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? value.map((each) => renamedIn(each, rename)) : entriesOf(value, rename)
}
