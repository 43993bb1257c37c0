/** From the words of the read store port to SQL. Names are checked, values are bound. */
import type { Find } from '../ports/readStore.ts'
import type { SqlValue } from '../sqlite.ts'

export interface Query {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/** The table of a collection, quoted. Throws on a name that is not a plain word. */
export function tableOf(collection: string): string {
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(collection))
    throw new RangeError(`${collection} is no name for a collection.`)
  return `"docs_${collection}"`
}

/** The SQL of an index: equality fields, the sort field, then the id that breaks ties. */
export function indexSql(collection: string, fields: readonly string[]): string {
  const expressions = [...fields.filter((field) => field !== 'id').map(valueOf), 'id']
  return (
    `CREATE INDEX IF NOT EXISTS "${collection} by ${fields.join(', ')}" ` +
    `ON ${tableOf(collection)} (${expressions.join(', ')}) WHERE ${present}`
  )
}

/** Finds bodies; a sorted page that an index serves whole when one fits. */
export function findSql(collection: string, { where, sort, limit, after }: Find): Query {
  const conditions = conditionsOf(where)
  const field = valueOf(sort.field)
  const [order, comes] = sort.direction === 'ascending' ? ['ASC', '>'] : ['DESC', '<']
  const place =
    after === undefined
      ? { sql: [], values: [] }
      : sort.field === 'id'
        ? { sql: [`id ${comes} ?`], values: [after.id] }
        : { sql: [`(${field}, id) ${comes} (?, ?)`], values: [after.value, after.id] }
  const sorted = sort.field === 'id' ? `id ${order}` : `${field} ${order}, id ${order}`
  return {
    sql:
      `SELECT body FROM ${tableOf(collection)} ` +
      `WHERE ${[present, ...conditions.sql, ...place.sql].join(' AND ')} ORDER BY ${sorted} LIMIT ?`,
    values: [...conditions.values, ...place.values, Math.max(0, limit)],
  }
}

export function countSql(collection: string, where: Find['where']): Query {
  const conditions = conditionsOf(where)
  return {
    sql: `SELECT count(*) FROM ${tableOf(collection)} WHERE ${[present, ...conditions.sql].join(' AND ')}`,
    values: conditions.values,
  }
}

// A removed document keeps its row, without a body. The indexes leave it out, and serve a query only if it says so too.
const present = 'body IS NOT NULL'

function conditionsOf(where: Find['where']): { sql: readonly string[]; values: readonly SqlValue[] } {
  const sql: string[] = []
  const values: SqlValue[] = []
  for (const [field, value] of Object.entries(where)) {
    const expression = valueOf(field)
    if (value === null) {
      sql.push(`${expression} IS NULL`)
    } else if (typeof value === 'boolean') {
      sql.push(`${expression} = ?`)
      values.push(value ? 1 : 0)
    } else if (typeof value === 'string' || typeof value === 'number') {
      sql.push(`${expression} = ?`)
      values.push(value)
    } else {
      // One bound list, so that the statement is the same for every length.
      sql.push(`${expression} IN (SELECT value FROM json_each(?))`)
      values.push(JSON.stringify(value))
    }
  }
  return { sql, values }
}

function valueOf(field: string): string {
  if (!/^[A-Za-z][A-Za-z0-9_.]*$/.test(field)) throw new RangeError(`${field} is no name for a field.`)
  return field === 'id' ? 'id' : `json_extract(body, '$.${field}')`
}
