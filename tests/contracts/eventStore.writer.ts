/** A program that appends to the SQLite log until it is killed, and prints each confirmed position. */
import { writeSync } from 'node:fs'
import { openSqliteEventStore } from '#platform/eventstore/sqlite.ts'
import { sampleEvents } from './eventStore.samples.ts'

const [file = '', stream = ''] = process.argv.slice(2)
const store = openSqliteEventStore({ file, onFault: () => {} })
for (let revision = 0; ; revision += 3) {
  const result = await store.append(stream, revision - 1, sampleEvents(stream, revision, 3))
  if (result.kind === 'appended') writeSync(1, `${result.positions.join('\n')}\n`)
}
