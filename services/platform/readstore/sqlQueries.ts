/** Translates queries and writes of the read store port to SQL. Names are checked, and values are bound. */
import type { Find } from '../ports/readStore.ts'
import type { SqlValue } from '../engines/sqlite.ts'

export interface Query {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/**
 * A stored collection. Each key, which is a field in some index, has its own column beside the body, so that an index is written only when one of its
 * fields changes.
 */
export interface Table {
  readonly collection: string
  readonly keys: readonly string[]
}

/** The quoted table name of a collection. Throws for a name that is not a plain word. */
export function tableOf(collection: string): string {
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(collection))
    throw new RangeError(`${collection} is no name for a collection.`)
  return `"docs_${collection}"`
}

/** The quoted column name of a key. The name has a space, which distinguishes the column from the table's other columns. */
export function columnOf(key: string): string {
  return `"key ${plain(key)}"`
}

/** The SQL for a field's value in a document given as JSON text. */
export function valueIn(body: string, field: string): string {
  return `json_extract(${body}, '$.${plain(field)}')`
}

export function indexName(collection: string, fields: readonly string[]): string {
  return `${collection} keyed by ${fields.join(', ')}`
}

/** The SQL of an index: equality fields, the sort field, then the id as a tie-breaker. */
export function indexSql(collection: string, fields: readonly string[]): string {
  const columns = [...fields.filter((field) => field !== 'id').map(columnOf), 'id']
  return (
    `CREATE INDEX IF NOT EXISTS "${indexName(collection, fields)}" ` +
    `ON ${tableOf(collection)} (${columns.join(', ')}) WHERE ${present}`
  )
}

/** The query for a page of ids and bodies. A suitable index can serve this query completely. */
export function findSql(table: Table, { where, sort, limit, after }: Find): Query {
  const conditions = conditionsOf(table, where)
  const field = valueOf(table, sort.field)
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
      `SELECT id, body FROM ${tableOf(table.collection)} ` +
      `WHERE ${[present, ...conditions.sql, ...place.sql].join(' AND ')} ORDER BY ${sorted} LIMIT ?`,
    values: [...conditions.values, ...place.values, Math.max(0, limit)],
  }
}

export function countSql(table: Table, where: Find['where']): Query {
  const conditions = conditionsOf(table, where)
  return {
    sql: `SELECT count(*) FROM ${tableOf(table.collection)} WHERE ${[present, ...conditions.sql].join(' AND ')}`,
    values: conditions.values,
  }
}

// A removed document keeps its row. Indexes leave these rows out, and a query uses an index only if the query has the same condition.
const present = 'present = 1'

function conditionsOf(
  table: Table,
  where: Find['where'],
): { sql: readonly string[]; values: readonly SqlValue[] } {
  const sql: string[] = []
  const values: SqlValue[] = []
  for (const [field, value] of Object.entries(where)) {
    const expression = valueOf(table, field)
    if (value === null) {
      sql.push(`${expression} IS NULL`)
    } else if (typeof value === 'boolean') {
      sql.push(`${expression} = ?`)
      values.push(value ? 1 : 0)
    } else if (typeof value === 'string' || typeof value === 'number') {
      sql.push(`${expression} = ?`)
      values.push(value)
    } else {
      // The list is bound as one value, so that the statement is the same for every length.
      sql.push(`${expression} IN (SELECT value FROM json_each(?))`)
      values.push(JSON.stringify(value))
    }
  }
  return { sql, values }
}

function valueOf(table: Table, field: string): string {
  if (field === 'id') return 'id'
  return table.keys.includes(field) ? columnOf(field) : valueIn('body', field)
}

function plain(field: string): string {
  if (!/^[A-Za-z][A-Za-z0-9_.]*$/.test(field)) throw new RangeError(`${field} is no name for a field.`)
  return field
}

/** The SQL that replaces a stored document unless it is newer or one of its keys changes. Most changes need only this, which touches no index. */
export function replaceSql({ collection, keys }: Table): string {
  const same = keys.map((key) => ` AND ${columnOf(key)} IS ${valueIn('?3', key)}`)
  return (
    `UPDATE ${tableOf(collection)} SET position = ?2, body = ?3 ` +
    `WHERE id = ?1 AND present = 1 AND position <= ?2${same.join('')}`
  )
}

/** The SQL that stores a document, or its removal if the body is null, unless the stored document is newer. */
export function putSql({ collection, keys }: Table): string {
  const columns = ['position', 'body', 'present', ...keys.map(columnOf)]
  const values = ['?2', '?3', '?3 IS NOT NULL', ...keys.map((key) => valueIn('?3', key))]
  return (
    `INSERT INTO ${tableOf(collection)} (id, ${columns.join(', ')}) VALUES (?1, ${values.join(', ')}) ` +
    `ON CONFLICT (id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')} ` +
    `WHERE excluded.position >= position`
  )
}
