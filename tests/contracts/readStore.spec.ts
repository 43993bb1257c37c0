import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EngineUnavailable, NewerData } from '#platform/ports/faults.ts'
import type { Change, Document, Find } from '#platform/ports/readStore.ts'
import { countSql, findSql } from '#platform/readstore/sqlQueries.ts'
import { openSqliteReadStore } from '#platform/readstore/sqlite.ts'
import { openTable } from '#platform/readstore/sqlTables.ts'
import { openSqlite } from '#platform/engines/sqlite.ts'
import type { SqlValue } from '#platform/engines/sqlite.ts'
import { readStoreContract, taskCollection } from './readStore.contract.ts'

const checkpoints = 'CREATE TABLE checkpoints (projection TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT'

readStoreContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-read-'))
  const file = join(folder, 'read.db')
  let store = openSqliteReadStore({ file })
  return {
    store,
    another: async () => openSqliteReadStore({ file }),
    reopen: async (served = []) => {
      await store.close()
      store = openSqliteReadStore({ file, served })
      return store
    },
    close: async () => {
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe('the SQLite read store', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flightdeck-read-'))
    file = join(folder, 'read.db')
  })
  afterEach(() => rm(folder, { recursive: true }))

  test('the files of asides that were never closed, as after a kill, are removed, and nothing else is', async () => {
    const store = openSqliteReadStore({ file })
    await store.prepare([taskCollection('tasks')])
    await store.close()
    const before = await readdir(folder)
    for (const left of ['.part0', '.part0-wal', '.part0-shm', '.part3'])
      await writeFile(`${file}${left}`, 'left')
    const again = openSqliteReadStore({ file })
    await again.removeAsides()
    await again.close()
    expect(await readdir(folder)).toEqual(before)
  })

  test('many changes give other work its turn, and move the checkpoint with the last of them', async () => {
    const store = openSqliteReadStore({ file })
    await store.prepare([taskCollection('tasks')])
    const changes = Array.from({ length: 1_200 }, (_, order): Change => ({
      kind: 'put',
      collection: 'tasks',
      document: { id: `task-${order}`, order, title: 'one' },
      position: '7',
    }))
    const turns: unknown[] = []
    const turn = async (): Promise<void> => {
      await nextTurn()
      turns.push([await store.count('tasks', {}), await store.checkpoint('main')])
    }
    const turnsOfOthers = turn().then(turn).then(turn)
    await store.apply(changes, { projection: 'main', position: '7' })
    await turnsOfOthers
    expect(turns).toEqual([
      [500, null],
      [1_000, null],
      [1_200, '7'],
    ])
    await store.close()
  })

  test('a document that has not changed is the same object for each reader', async () => {
    const store = openSqliteReadStore({ file })
    await store.prepare([taskCollection('tasks')])
    const put = (id: string, title: string, position: string): Change => ({
      kind: 'put',
      collection: 'tasks',
      document: { id, order: 1, title },
      position,
    })
    const find = () =>
      store.find('tasks', { where: {}, sort: { field: 'order', direction: 'ascending' }, limit: 9 })
    await store.apply([put('a', 'one', '1'), put('b', 'one', '1')], null)
    const before = await find()
    expect(await store.get('tasks', 'a')).toBe(before[0])
    expect(await find()).toBe(before)
    await store.apply([put('b', 'two', '2')], null)
    const after = await find()
    expect(after[0]).toBe(before[0])
    expect(after[1]).toEqual({ id: 'b', order: 1, title: 'two' })
    await store.close()
  })

  test('a page is read from an index, neither scanned for nor sorted', async () => {
    const store = openSqliteReadStore({ file })
    await store.prepare([taskCollection('tasks')])
    await store.close()
    const db = openSqlite({ file, synchronous: 'NORMAL', formats: ['', '', '', ''] })
    const planOf = ({ sql, values }: { sql: string; values: readonly SqlValue[] }) =>
      db
        .prepare<readonly SqlValue[], [number, number, number, string]>(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...values)
        .map(([, , , detail]) => detail)
    const find = (query: Partial<Find>) =>
      planOf(
        findSql(openTable(db, 'tasks'), {
          where: { ownerId: 'ada' },
          sort: { field: 'order', direction: 'descending' },
          limit: 20,
          ...query,
        }),
      )

    const byOwner = 'SEARCH docs_tasks USING INDEX tasks keyed by ownerId, order (key ownerId=?)'
    expect(find({})).toEqual([byOwner])
    expect(find({ sort: { field: 'order', direction: 'ascending' } })).toEqual([byOwner])
    expect(find({ after: { value: 3, id: 'a' } })).toEqual([
      expect.stringContaining('INDEX tasks keyed by ownerId, order'),
    ])
    expect(find({ after: { value: 3, id: 'a' } }).join()).not.toMatch(/SCAN|TEMP B-TREE/)
    expect(find({ where: { open: true } })).toEqual([
      'SEARCH docs_tasks USING INDEX tasks keyed by open, order (key open=?)',
    ])
    expect(find({ where: { ownerId: ['ada', 'eve'] } }).join()).toMatch(
      /^SEARCH docs_tasks USING INDEX tasks keyed by ownerId, /,
    )
    expect(planOf(countSql(openTable(db, 'tasks'), { 'pull.number': 7 })).join()).toContain(
      'INDEX tasks keyed by pull.number (key pull.number=?)',
    )
    db.close()
  })

  test('a change writes an index only if one of its fields changed', async () => {
    const store = openSqliteReadStore({ file })
    await store.prepare([taskCollection('tasks')])
    const put = (document: Document, position: string) =>
      store.apply([{ kind: 'put', collection: 'tasks', document, position }], { projection: 'p', position })
    const document = { id: 'a', ownerId: 'ada', order: 1, open: true, pull: { number: 7 } }
    await put(document, '1')
    const { size: before } = await stat(`${file}-wal`)
    await put({ ...document, title: 'Widget' }, '2')
    const { size: unkeyed } = await stat(`${file}-wal`)
    await put({ ...document, title: 'Widget', open: false, ownerId: 'eve' }, '3')
    const { size: keyed } = await stat(`${file}-wal`)
    const pages = (bytes: number) => Math.floor(bytes / 4_096)
    // The document's and the checkpoint's.
    expect(pages(unkeyed - before)).toBe(2)
    expect(pages(keyed - unkeyed)).toBeGreaterThan(3)
    await store.close()
  })

  test('what an older Flightdeck stored without columns for keys is found by them', async () => {
    const db = openSqlite({ file, synchronous: 'NORMAL', formats: [checkpoints] })
    db.exec(`
      CREATE TABLE docs_tasks (id TEXT PRIMARY KEY, position TEXT NOT NULL, body TEXT) STRICT;
      CREATE INDEX "tasks by ownerId, order" ON docs_tasks (json_extract(body, '$.ownerId'), json_extract(body, '$.order'), id) WHERE body IS NOT NULL;
      INSERT INTO docs_tasks VALUES ('a', '1', '{"id":"a","ownerId":"ada","order":1}'), ('b', '2', NULL)`)
    db.close()
    const store = openSqliteReadStore({ file })
    await store.prepare([taskCollection('tasks')])
    const found = await store.find('tasks', {
      where: { ownerId: 'ada' },
      sort: { field: 'order', direction: 'ascending' },
      limit: 9,
    })
    expect(found).toEqual([{ id: 'a', ownerId: 'ada', order: 1 }])
    expect(await store.count('tasks', {})).toBe(1)
    await store.close()
    const after = openSqlite({ file, synchronous: 'NORMAL', formats: [checkpoints, '', '', ''] })
    const indexes = after.prepare<[], [string]>(`SELECT name FROM sqlite_master WHERE name LIKE '%by%'`).all()
    expect(indexes.flat()).toEqual(
      taskCollection('tasks').indexes.map((fields) => `tasks keyed by ${fields.join(', ')}`),
    )
    after.close()
  })

  /** How often the word lies in the store's files. */
  async function timesStored(word: string): Promise<number> {
    const names = (await readdir(folder)).filter((name) => name.startsWith('read.db'))
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1')))
    return texts.join().split(word).length - 1
  }
  const sizes = [20, 300, 900, 3_000, 9_000]
  const shelf = (order: number, word: string) => ({
    id: `d${(order * 7_919) % 10_007}`,
    ownerId: 'ada',
    order,
    text: `${word} `.repeat((sizes[order % sizes.length] ?? 0) / word.length + 1),
  })

  test('finding 10: what was removed or replaced is in no file once it is scrubbed', async () => {
    const store = openSqliteReadStore({ file })
    await store.prepare([taskCollection('tasks')])
    const put = (order: number, word: string, position: number) =>
      ({
        kind: 'put',
        collection: 'tasks',
        document: shelf(order, word),
        position: String(position),
      }) as const
    // Out of order and of many sizes, among others that stay: pages split, cells move, and others take their place.
    for (let batch = 0; batch < 40; batch += 1)
      await store.apply(
        Array.from({ length: 50 }, (_, n) =>
          put(batch * 50 + n, n % 2 === 0 ? 'swordfish' : 'kept', batch + 1),
        ),
        { projection: 'p', position: String(batch + 1) },
      )
    const goes = Array.from({ length: 1_000 }, (_, n) => 2 * n)
    await store.apply(
      goes.filter((order) => order % 3 === 0).map((order) => put(order, 'other', 50)),
      {
        projection: 'p',
        position: '50',
      },
    )
    await store.apply(
      goes
        .filter((order) => order % 3 !== 0)
        .map((order) => ({
          kind: 'remove',
          collection: 'tasks',
          id: shelf(order, 'none').id,
          position: '51',
        })),
      { projection: 'p', position: '51' },
    )
    expect(await timesStored('swordfish')).toBeGreaterThan(0)
    await store.scrub()
    expect(await timesStored('swordfish')).toBe(0)
    expect(await timesStored('kept')).toBeGreaterThan(1_000)
    await store.close()
  })

  test('finding 10: what an older Flightdeck removed is in no file either', async () => {
    const older = openSqlite({ file, synchronous: 'NORMAL', formats: [checkpoints, ''] })
    older.exec(
      'CREATE TABLE docs_tasks (id TEXT PRIMARY KEY, position TEXT NOT NULL, body TEXT, present INTEGER) STRICT',
    )
    older
      .prepare<[string]>(`INSERT INTO docs_tasks VALUES ('a', '1', ?, 1)`)
      .run(JSON.stringify({ id: 'a', text: 'swordfish '.repeat(2_000) }))
    older.exec(`UPDATE docs_tasks SET body = NULL, present = 0`)
    older.close()
    expect(await timesStored('swordfish')).toBeGreaterThan(0)
    const store = openSqliteReadStore({ file })
    await store.scrub()
    expect(await timesStored('swordfish')).toBe(0)
    await store.close()
  })

  test('a batch with a defect leaves no part of it behind', async () => {
    const store = openSqliteReadStore({ file })
    await store.prepare([taskCollection('tasks')])
    const document = { id: 'a', order: 1 }
    const batch = store.apply(
      [
        { kind: 'put', collection: 'tasks', document, position: '1' },
        { kind: 'put', collection: 'unknown', document, position: '1' },
      ],
      { projection: 'p', position: '1' },
    )
    await expect(batch).rejects.toThrow('docs_unknown')
    expect(await store.get('tasks', 'a')).toBeUndefined()
    expect(await store.checkpoint('p')).toBeNull()
    await store.close()
  })

  test('a collection whose name is no plain word is refused', async () => {
    const store = openSqliteReadStore({ file })
    await expect(store.prepare([{ name: 'a"; DROP TABLE checkpoints', indexes: [] }])).rejects.toThrow(
      RangeError,
    )
    await expect(store.get('a b', 'x')).rejects.toThrow(RangeError)
    await store.close()
  })

  test('what is asked of a closed store is refused as unavailable', async () => {
    const store = openSqliteReadStore({ file })
    await store.close()
    await expect(store.ready()).rejects.toThrow(EngineUnavailable)
    await expect(store.apply([], { projection: 'p', position: '1' })).rejects.toThrow(EngineUnavailable)
  })

  test('a file of a newer format is refused', () => {
    openSqlite({ file, synchronous: 'NORMAL', formats: ['', '', '', '', ''] }).close()
    expect(() => openSqliteReadStore({ file })).toThrow(NewerData)
  })
})
