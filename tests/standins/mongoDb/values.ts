/** Values of BSON: their order, and the fields of documents. */
import { Binary, ObjectId } from 'mongodb'

export type Fields = Record<string, unknown>

/** What MongoDB answers instead of doing what was asked. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly answer: Fields
  constructor(code: number, codeName: string, message: string, details: Fields = {}) {
    super(message)
    this.answer = { code, codeName, errmsg: message, ...details }
  }
}

/** For everything that MongoDB may be able to do and this stand-in is not. */
export function notUnderstood(what: string): Refused {
  return new Refused(9, 'FailedToParse', `The stand-in does not understand ${what}.`)
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** The value at a path such as `document.order`; `undefined` when it is missing. Refuses lists, which MongoDB would look into. */
export function valueAt(document: Fields, path: string): unknown {
  let value: unknown = document
  for (const name of path.split('.')) {
    value = isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined
    if (Array.isArray(value)) throw notUnderstood(`the list at ${path}, by which documents are found`)
  }
  return value
}

/** The place of the value's type in MongoDB's order of types. A missing value counts as null. */
export function typeOrder(value: unknown): number {
  if (value === undefined || value === null) return 0
  if (typeof value === 'number') return 1
  if (typeof value === 'string') return 2
  if (isFields(value)) return 3
  if (Array.isArray(value)) return 4
  if (value instanceof Binary) return 5
  if (value instanceof ObjectId) return 6
  if (typeof value === 'boolean') return 7
  if (value instanceof Date) return 8
  throw notUnderstood('a type of value')
}

export function compareValues(a: unknown, b: unknown): number {
  const types = typeOrder(a) - typeOrder(b)
  if (types !== 0) return types
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  if (a instanceof ObjectId && b instanceof ObjectId) return Buffer.compare(a.id, b.id)
  if (a instanceof Binary && b instanceof Binary)
    return a.length() - b.length() || a.sub_type - b.sub_type || Buffer.compare(a.value(), b.value())
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b)
  if (isFields(a) && isFields(b)) return compareLists(Object.entries(a).flat(), Object.entries(b).flat())
  const [one, other] = [Number(a), Number(b)]
  return one < other ? -1 : one > other ? 1 : 0
}

function compareLists(a: readonly unknown[], b: readonly unknown[]): number {
  for (const [index, value] of a.entries()) {
    if (index >= b.length) return 1
    const order = compareValues(value, b[index])
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** By code point, which is the order of the bytes in UTF-8. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  let at = 0
  while (a.charCodeAt(at) === b.charCodeAt(at)) at += 1
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1)
}
