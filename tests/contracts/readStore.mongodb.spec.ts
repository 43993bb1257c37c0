import * as fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openMongo } from '#platform/engines/mongoConnection.ts'
import { EngineUnavailable, TooLarge } from '#platform/ports/faults.ts'
import type { Change, Document, Find } from '#platform/ports/readStore.ts'
import { pageOf } from '#platform/readstore/mongoQueries.ts'
import { openMongoReadStore } from '#platform/readstore/mongodb.ts'
import { note } from '../report/notes.ts'
import { freshDatabase, gateBefore, startMongoServer, type MongoDatabase } from '../servers/mongodb.ts'
import { oneAtATime } from '../servers/oneWriteAtATime.ts'
import { readStoreContract, taskCollection } from './readStore.contract.ts'
import { randomRuns } from '../longRun.ts'

const server = await startMongoServer()

afterAll(() => server.close())

describe.skipIf(!server.isThere)(`on ${server.what}`, () => {
  note('read store: MongoDB', server.what)

  readStoreContract('MongoDB', async () => {
    const { mongo, close } = await freshDatabase(server)
    let store = openMongoReadStore({ mongo })
    return {
      store,
      // It has no steps, and the stand-in takes a tenth of a second for each.
      many: 40,
      another: async () => openMongoReadStore({ mongo }),
      reopen: async (served = []) => {
        await store.close()
        store = openMongoReadStore({ mongo, served })
        return store
      },
      close: async () => {
        await store.close()
        await close()
      },
    }
  })

  describe('the MongoDB read store', () => {
    let database: MongoDatabase
    beforeEach(async () => {
      database = await freshDatabase(server)
    })
    afterEach(() => database.close())

    const put = (document: Document, position: string): Change => ({
      kind: 'put',
      collection: 'tasks',
      document,
      position,
    })

    test('any JSON comes back as it was put, whatever its keys', async () => {
      const store = openMongoReadStore({ mongo: database.mongo })
      const key = fc.oneof(
        fc.constantFrom('$set', 'a.b', '', '%', '%2e', 'a\0b', '$', '.', '_id', 'id', '__proto__'),
        fc.string(),
      )
      const text = fc.string({ unit: 'binary' })
      const { json } = fc.letrec((tie) => ({
        json: fc.oneof({ depthSize: 'small' }, tie('plain'), tie('list'), tie('object')),
        plain: fc.oneof(
          text,
          fc.integer(),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.boolean(),
        ),
        // FerretDB has no lists in lists.
        list: fc.array(server.isMongoDb ? tie('json') : fc.oneof(tie('plain'), tie('object')), {
          maxLength: 3,
        }),
        object: fc.dictionary(key, tie('json'), { maxKeys: 4 }),
      }))
      let position = 0
      await fc.assert(
        fc.asyncProperty(json, async (value) => {
          position += 1
          const document = { id: 'a', value: JSON.parse(JSON.stringify(value)) }
          await store.apply([put(document, String(position))], { projection: 'p', position: '1' })
          expect(await store.get('tasks', 'a')).toEqual(document)
        }),
        { numRuns: randomRuns(200), examples: [[{ valueOf: [{}], constructor: [{ a: 1 }] }]] },
      )
    })

    test('a batch with a document that is too large is refused, and no part of it is written', async () => {
      const store = openMongoReadStore({ mongo: database.mongo })
      const batch = store.apply(
        [put({ id: 'a' }, '1'), put({ id: 'b', text: 'x'.repeat(16 * 1024 * 1024) }, '2')],
        { projection: 'p', position: '2' },
      )
      await expect(batch).rejects.toThrow(TooLarge)
      await expect(batch).rejects.toThrow('The document b of tasks is over the 16 MB that MongoDB takes.')
      expect(await store.get('tasks', 'a')).toBeUndefined()
      expect(await store.checkpoint('p')).toBeNull()
    })

    test('a batch of which every other write is older than what is stored writes the rest', async () => {
      const store = openMongoReadStore({ mongo: database.mongo })
      const all = Array.from({ length: 40 }, (_, index) => index)
      const newer = all.filter((index) => index % 2 === 0)
      await store.apply(
        newer.map((index) => put({ id: `d${index}`, n: 'newer' }, '9')),
        {
          projection: 'p',
          position: '9',
        },
      )
      await store.apply(
        all.map((index) => put({ id: `d${index}`, n: 'older' }, '8')),
        {
          projection: 'p',
          position: '8',
        },
      )
      expect(await store.count('tasks', { n: 'newer' })).toBe(20)
      expect(await store.count('tasks', { n: 'older' })).toBe(20)
      expect(await store.checkpoint('p')).toBe('9')
    })

    test('of writers that race on one document and one checkpoint, the newest has the last word', async () => {
      // FerretDB writes in two steps what MongoDB does in one: it is given one command at a time.
      const { gate, url } = await gateBefore(server, server.isMongoDb ? undefined : oneAtATime())
      const connections = await Promise.all(
        [1, 2].map(() => openMongo({ url, database: database.name, onWaiting: () => {} })),
      )
      const [one, other] = connections.map((mongo) => openMongoReadStore({ mongo }))
      for (let round = 0; round < 10; round += 1) {
        const id = `raced ${round}`
        const positions = Array.from({ length: 20 }, (_, index) => String(8 + index))
        await Promise.all(
          positions.map((position, index) =>
            (index % 2 ? one : other)?.apply([put({ id, position }, position)], { projection: id, position }),
          ),
        )
        expect(await one?.get('tasks', id)).toEqual({ id, position: '27' })
        expect(await other?.checkpoint(id)).toBe('27')
      }
      for (const mongo of connections) await mongo.close()
      await gate.shut()
    })

    test('a page of many documents is right, and read from an index by a server that has them', async () => {
      const store = openMongoReadStore({ mongo: database.mongo })
      await store.prepare([taskCollection('tasks')])
      // FerretDB looks through all of them, at each find.
      const count = server.isMongoDb ? 100_000 : 10_000
      const documentAt = (index: number) => ({
        id: `d${index}`,
        ownerId: `owner ${index % 100}`,
        order: String(index).padStart(20, '0'),
        title: 'A task with a title of usual length',
      })
      // Past the adapter, whose guarded writes cost FerretDB a look through all documents each.
      await database.mongo.ask(async (db) => {
        for (let from = 0; from < count; from += 5_000) {
          await db.collection<{ _id: string }>('docs_tasks').insertMany(
            Array.from({ length: 5_000 }, (_, index) => documentAt(from + index)).map((document) => ({
              _id: document.id,
              position: document.order,
              document,
            })),
          )
        }
      }, 120_000)
      const query: Find = {
        where: { ownerId: 'owner 7' },
        sort: { field: 'order', direction: 'descending' },
        limit: 20,
      }
      const times: number[] = []
      let page: readonly Document[] = []
      for (let run = 0; run < 5; run += 1) {
        const from = performance.now()
        page = await store.find('tasks', query)
        times.push(performance.now() - from)
      }
      expect(page).toEqual(Array.from({ length: 20 }, (_, index) => documentAt(count - 93 - index * 100)))
      const median = times.toSorted((a, b) => a - b)[2] ?? 0
      note(`a page of ${count} documents in ${median.toFixed(1)} ms`, server.what)

      const { filter, sort } = pageOf({ ...query, after: { value: documentAt(5_007).order, id: 'd5007' } })
      const plan = await database.mongo.ask((db) =>
        db.collection('docs_tasks').find(filter).sort(sort).limit(20).explain('executionStats'),
      )
      expect(server.isMongoDb ? Plan.parse(plan).executionStats.totalDocsExamined : 20).toBeLessThan(25)
    }, 180_000)

    test('a collection whose name is no plain word is refused', async () => {
      const store = openMongoReadStore({ mongo: database.mongo })
      await expect(store.prepare([{ name: 'system.users', indexes: [] }])).rejects.toThrow(RangeError)
      await expect(store.get('a b', 'x')).rejects.toThrow(RangeError)
    })

    test('what is asked of a closed store is refused as unavailable, and the connection serves on', async () => {
      const store = openMongoReadStore({ mongo: database.mongo })
      await store.close()
      await expect(store.ready()).rejects.toThrow(EngineUnavailable)
      await expect(store.apply([], { projection: 'p', position: '1' })).rejects.toThrow(EngineUnavailable)
      await database.mongo.ready()
    })
  })
})

const Plan = z.object({ executionStats: z.object({ totalDocsExamined: z.number() }) })
