import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openGridFsBlobs } from '#platform/blobs/gridFs.ts'
import { openMongo } from '#platform/engines/mongoConnection.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { note } from '../report/notes.ts'
import { freshDatabase, gateBefore, startMongoServer, type MongoDatabase } from '../servers/mongodb.ts'
import { oneAtATime } from '../servers/oneWriteAtATime.ts'
import { blobsContract } from './blobs.contract.ts'

const server = await startMongoServer()
const clock = { now: () => new Date() }

afterAll(() => server.close())

describe.skipIf(!server.isThere)(`on ${server.what}`, () => {
  note('blobs: GridFS', server.what)

  blobsContract('GridFS', async () => {
    const database = await freshDatabase(server)
    // FerretDB writes in two steps what MongoDB does in one: it is given one command at a time.
    const { gate, url } = await gateBefore(server, server.isMongoDb ? undefined : oneAtATime())
    const mongo = await openMongo({ url, database: database.name, onWaiting: () => {} })
    let blobs = await openGridFsBlobs({ mongo, clock })
    return {
      blobs,
      damage: (hash) =>
        mongo.ask(async (db) => {
          const file = await db.collection('blobs.files').findOne({ filename: hash })
          const chunk = { files_id: file?._id, n: 0 }
          const found = await db.collection('blobs.chunks').findOne(chunk)
          const data = Buffer.from(found?.['data'])
          data[0] = (data[0] ?? 0) ^ 1
          await db.collection('blobs.chunks').updateOne(chunk, { $set: { data } })
        }),
      date: (hash, putAt) =>
        mongo.ask(async (db) => {
          await db.collection('blobs.files').updateOne({ filename: hash }, { $set: { uploadDate: putAt } })
        }),
      reopen: async () => {
        await blobs.close()
        blobs = await openGridFsBlobs({ mongo, clock })
        return blobs
      },
      close: async () => {
        await blobs.close()
        await mongo.close()
        await gate.shut()
        await database.close()
      },
    }
  })

  describe('the blobs in GridFS', () => {
    let database: MongoDatabase
    beforeEach(async () => {
      database = await freshDatabase(server)
    })
    afterEach(() => database.close())

    /** Says that a blob's file is unfinished; the id of the file. */
    const mark = (hash: string, since: Date) =>
      database.mongo.ask(async (db) => {
        const file = await db.collection('blobs.files').findOne({ filename: hash })
        if (file === null) throw new Error(`There is no file for ${hash}.`)
        await db.collection('blobs.unfinished').insertOne({ _id: file._id, since })
        return file._id
      })
    const stored = () =>
      database.mongo.ask(async (db) => ({
        files: await db.collection('blobs.files').countDocuments(),
        chunks: await db.collection('blobs.chunks').countDocuments(),
        unfinished: await db.collection('blobs.unfinished').countDocuments(),
      }))

    test('a blob of many chunks, larger than a document may be, comes back whole', async () => {
      const blobs = await openGridFsBlobs({ mongo: database.mongo, clock })
      const bytes = randomBytes(17 * 1024 * 1024 + 1)
      const hash = await blobs.put(bytes)
      expect(await stored()).toEqual({ files: 1, chunks: 18, unfinished: 0 })
      expect(bytes.equals((await blobs.get(hash)) ?? new Uint8Array())).toBe(true)
      await blobs.remove(hash)
      expect(await stored()).toEqual({ files: 0, chunks: 0, unfinished: 0 })
    })

    test('the same bytes put by several at once are stored once, with nothing left over', async () => {
      const all = await Promise.all([1, 2, 3].map(() => openGridFsBlobs({ mongo: database.mongo, clock })))
      const bytes = randomBytes(2_000_000)
      await Promise.all(all.map((blobs) => blobs.put(bytes)))
      expect(await stored()).toEqual({ files: 1, chunks: 2, unfinished: 0 })
    })

    test('a blob whose upload broke off is not there, and its chunks go once they are an hour old', async () => {
      let now = Date.parse('2025-01-01T00:00:00Z')
      const moved = { now: () => new Date(now) }
      const { mongo } = database
      const blobs = await openGridFsBlobs({ mongo, clock: moved })
      const kept = await blobs.put(Buffer.from('kept'))
      // What is there when a process is killed before the last step: the chunks, and that they are unfinished.
      const lost = await blobs.put(Buffer.from('lost'))
      const _id = await mark(lost, moved.now())
      await mongo.ask((db) => db.collection('blobs.files').deleteOne({ _id }))
      expect(await blobs.get(lost)).toBeUndefined()

      await openGridFsBlobs({ mongo, clock: moved })
      expect(await stored()).toEqual({ files: 1, chunks: 2, unfinished: 1 })
      now += 3_600_001
      await openGridFsBlobs({ mongo, clock: moved })
      expect(await stored()).toEqual({ files: 1, chunks: 1, unfinished: 0 })
      expect(Buffer.from((await blobs.get(kept)) ?? '').toString()).toBe('kept')
    })

    test('thousands that were put at one moment are listed each once', async () => {
      const blobs = await openGridFsBlobs({ mongo: database.mongo, clock })
      const putAt = new Date('2025-01-01T00:00:00Z')
      const names = Array.from({ length: 2_500 }, (_, n) => String(n).padStart(64, '0'))
      await database.mongo.ask((db) =>
        db
          .collection('blobs.files')
          .insertMany(
            names.map((filename) => ({ filename, length: 0, chunkSize: 1_048_576, uploadDate: putAt })),
          ),
      )
      const listed: string[] = []
      for await (const hash of blobs.list(new Date('2025-01-02T00:00:00Z'))) listed.push(hash)
      expect(listed.toSorted()).toEqual(names)
    })

    test('a blob that was finished, and whose mark was left, is kept', async () => {
      let now = Date.parse('2025-01-01T00:00:00Z')
      const moved = { now: () => new Date(now) }
      const { mongo } = database
      const blobs = await openGridFsBlobs({ mongo, clock: moved })
      const kept = await blobs.put(Buffer.from('kept'))
      await mark(kept, moved.now())
      now += 3_600_001
      await openGridFsBlobs({ mongo, clock: moved })
      expect(await stored()).toEqual({ files: 1, chunks: 1, unfinished: 0 })
    })

    test('what is asked of closed blobs is refused as unavailable, and the connection serves on', async () => {
      const blobs = await openGridFsBlobs({ mongo: database.mongo, clock })
      await blobs.close()
      await expect(blobs.put(Buffer.from('other'))).rejects.toThrow(EngineUnavailable)
      await expect(blobs.ready()).rejects.toThrow(EngineUnavailable)
      await database.mongo.ready()
    })
  })
})
