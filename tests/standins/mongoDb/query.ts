/** Filters of MongoDB: those operators that our adapters use. */
import { firstNot } from './sortedBlocks.ts'
import { compareValues, isFields, notUnderstood, typeOrder, valueAt, type Fields } from './values.ts'

const comparing =
  (isRight: (order: number) => boolean) =>
  (found: unknown, wanted: unknown): boolean =>
    typeOrder(found) === typeOrder(wanted) && isRight(compareValues(found, wanted))

const operators = {
  $eq: comparing((order) => order === 0),
  $gt: comparing((order) => order > 0),
  $gte: comparing((order) => order >= 0),
  $lt: comparing((order) => order < 0),
  $lte: comparing((order) => order <= 0),
  // The values of the list were sorted.
  $in: (found: unknown, wanted: unknown) => {
    const list = listOf(wanted)
    const at = firstNot(list.length, (n) => compareValues(list[n], found) < 0)
    return at < list.length && compareValues(list[at], found) === 0
  },
  $exists: (found: unknown, wanted: unknown) => (found !== undefined) === wanted,
} as const
type Operator = keyof typeof operators

export interface Condition {
  readonly path: string
  readonly operator: Operator
  readonly value: unknown
}

export interface Query {
  /** All of them must hold. */
  readonly conditions: readonly Condition[]
  /** Of each group, one must hold. */
  readonly alternatives: readonly (readonly Query[])[]
}

export function queryOf(filter: unknown): Query {
  if (!isFields(filter)) throw notUnderstood('a filter that is no document')
  const conditions: Condition[] = []
  const alternatives: (readonly Query[])[] = []
  for (const [path, value] of Object.entries(filter)) {
    if (path === '$or') alternatives.push(listOf(value).map(queryOf))
    else if (path === '$and')
      for (const part of listOf(value).map(queryOf)) {
        conditions.push(...part.conditions)
        alternatives.push(...part.alternatives)
      }
    else if (path.startsWith('$')) throw notUnderstood(path)
    else if (isFields(value) && Object.keys(value).some((name) => name.startsWith('$')))
      for (const [name, operand] of Object.entries(value)) conditions.push(conditionOf(path, name, operand))
    else conditions.push(conditionOf(path, '$eq', value))
  }
  return { conditions, alternatives }
}

export function matches(document: Fields, { conditions, alternatives }: Query): boolean {
  return (
    conditions.every(({ path, operator, value }) => operators[operator](valueAt(document, path), value)) &&
    alternatives.every((group) => group.some((query) => matches(document, query)))
  )
}

function conditionOf(path: string, operator: string, value: unknown): Condition {
  if (!isOperator(operator)) throw notUnderstood(operator)
  if (operator === '$exists' && typeof value !== 'boolean') throw notUnderstood('$exists without a boolean')
  // Refuses values that have no order, such as patterns.
  for (const each of operator === '$in' ? listOf(value) : [value]) typeOrder(each)
  if (operator !== '$in') return { path, operator, value }
  const sorted = listOf(value).toSorted(compareValues)
  const distinct = sorted.filter((each, n) => n === 0 || compareValues(each, sorted[n - 1]) !== 0)
  return { path, operator, value: distinct }
}

function isOperator(name: string): name is Operator {
  return Object.hasOwn(operators, name)
}

export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw notUnderstood('a value that should be a list')
  return value
}
