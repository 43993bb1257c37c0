/** Updates of MongoDB: replacements, and those operators that our adapters use. */
import { ObjectId } from 'mongodb'
import type { Query } from './query.ts'
import { compareValues, isFields, notUnderstood, Refused, type Fields } from './values.ts'

const operators = {
  $set: (_: unknown, value: unknown) => value,
  $inc: (before: unknown, value: unknown) => numberOf(before ?? 0) + numberOf(value),
  $max: (before: unknown, value: unknown) =>
    before === undefined || compareValues(before, value) < 0 ? value : before,
} as const

/** The document after an update. The one that is given stays as it is. */
export function updated(document: Fields, update: Fields): Fields {
  const { _id } = document
  const next: Fields = isReplacement(update) ? { _id, ...update } : { ...document }
  for (const [name, changes] of isReplacement(update) ? [] : Object.entries(update)) {
    if (!isOperator(name) || !isFields(changes)) throw notUnderstood(`the modifier ${name}`)
    for (const [field, value] of Object.entries(changes)) {
      if (field.includes('.')) throw notUnderstood(`the path ${field} in an update`)
      next[field] = operators[name](next[field], value)
    }
  }
  if (compareValues(_id, next._id) !== 0)
    throw new Refused(66, 'ImmutableField', "The field '_id' cannot be changed.")
  return next
}

/** The document that an upsert inserts: what the query asks for by equality, updated. */
export function upserted({ conditions }: Query, update: Fields): Fields {
  const asked: Fields = { _id: new ObjectId() }
  for (const { path, operator, value } of conditions) {
    if (operator !== '$eq' || (isReplacement(update) && path !== '_id')) continue
    if (path.includes('.')) throw notUnderstood(`the path ${path} in an upsert`)
    asked[path] = value
  }
  return updated(asked, update)
}

function isReplacement(update: Fields): boolean {
  return !Object.keys(update).some((name) => name.startsWith('$'))
}

function isOperator(name: string): name is keyof typeof operators {
  return Object.hasOwn(operators, name)
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw new Refused(14, 'TypeMismatch', 'Only numbers can be added.')
  return value
}
