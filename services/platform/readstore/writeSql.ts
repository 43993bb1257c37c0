/** The writes of a document: its id, position and body are bound in this order. */
import { columnOf, tableOf, valueIn } from './sqlQueries.ts'
import type { Table } from './sqlQueries.ts'

/** Replaces what is there if all keys stay what they are, and then touches no index: most changes of a document are such. */
export function replaceSql({ collection, keys }: Table): string {
  const same = keys.map((key) => ` AND ${columnOf(key)} IS ${valueIn('?3', key)}`)
  return (
    `UPDATE ${tableOf(collection)} SET position = ?2, body = ?3 ` +
    `WHERE id = ?1 AND present = 1 AND position <= ?2${same.join('')}`
  )
}

/** Puts the document, or its absence if the body is null, unless what is there is newer. */
export function putSql({ collection, keys }: Table): string {
  const columns = ['position', 'body', 'present', ...keys.map(columnOf)]
  const values = ['?2', '?3', '?3 IS NOT NULL', ...keys.map((key) => valueIn('?3', key))]
  return (
    `INSERT INTO ${tableOf(collection)} (id, ${columns.join(', ')}) VALUES (?1, ${values.join(', ')}) ` +
    `ON CONFLICT (id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')} ` +
    `WHERE excluded.position >= position`
  )
}
