/**
 * Blobs in GridFS, https://www.mongodb.com/docs/manual/core/gridfs/: a blob's file has its hash as file name, so MongoDB's tools can read it. A file
 * is added only after all its chunks; chunks without a file are found through their `Unfinished` entry.
 */
import { createHash } from 'node:crypto'
import { ObjectId } from 'mongodb'
import type { Collection, Db, Filter } from 'mongodb'
import { longMs, share, type Mongo } from '../engines/mongoConnection.ts'
import { inserted, onceMoreIfDuplicate } from '../engines/mongoFaults.ts'
import { isBlobHash, type Blobs } from '../ports/blobs.ts'
import type { Clock } from '../ports/clock.ts'
import { DamagedBlob, EngineUnavailable } from '../ports/faults.ts'
import { sha256 } from '../hashes.ts'

interface StoredFile {
  readonly _id: ObjectId
  readonly length: number
  readonly chunkSize: number
  readonly uploadDate: Date
  readonly filename: string
}

interface StoredChunk {
  readonly files_id: ObjectId
  readonly n: number
  readonly data: Uint8Array
}

interface Unfinished {
  readonly _id: ObjectId
  readonly since: Date
}

export interface GridFsOptions {
  readonly mongo: Mongo
  readonly clock: Clock
}

const chunkBytes = 1024 * 1024
/** How many chunks are sent at once: few enough that a message stays below MongoDB's 48 MB, and a call within its timeout. */
const chunksAtOnce = 8
const listedAtOnce = 1_000
/** An upload that began longer ago than this counts as interrupted, since no upload takes so long. */
const abandonedAfterMs = 3_600_000

type GridFs = GridFsOptions

/** Opens the blobs in the database of the connection, and cleans up after uploads and removals that began over an hour ago and were interrupted. */
export async function openGridFsBlobs({ clock, ...options }: GridFsOptions): Promise<Blobs> {
  const mongo = share(options.mongo)
  const blobs: GridFs = { mongo, clock }
  await mongo.ask(async (db) => {
    await filesIn(db).createIndex({ filename: 1 }, { unique: true })
    await filesIn(db).createIndex({ uploadDate: 1, _id: 1 })
    await chunksIn(db).createIndex({ files_id: 1, n: 1 }, { unique: true })
  }, longMs)
  await mongo.ask((db) => dropAbandoned(blobs, db), longMs)

  return {
    put: (bytes) => put(blobs, bytes),
    get: async (hash) => (isBlobHash(hash) ? read(blobs, hash) : undefined),
    check: (hash) => check(blobs, hash),
    remove: (hash, putBefore) => remove(blobs, hash, putBefore),
    list: (putBefore) => list(blobs, putBefore),
    ready: () => mongo.ready(),
    close: () => mongo.close(),
  }
}

async function dropAbandoned(blobs: GridFs, db: Db): Promise<void> {
  const before = new Date(blobs.clock.now().getTime() - abandonedAfterMs)
  for await (const { _id } of unfinishedIn(db).find({ since: { $lt: before } })) {
    const isWhole = (await filesIn(db).findOne({ _id })) !== null
    if (!isWhole) await chunksIn(db).deleteMany({ files_id: _id })
    await unfinishedIn(db).deleteOne({ _id })
  }
}

async function write(blobs: GridFs, hash: string, bytes: Uint8Array): Promise<void> {
  const _id = new ObjectId()
  const since = blobs.clock.now()
  await blobs.mongo.ask((db) => unfinishedIn(db).insertOne({ _id, since }))
  const chunks = chunksOf(_id, bytes)
  for (let from = 0; from < chunks.length; from += chunksAtOnce) {
    const some = chunks.slice(from, from + chunksAtOnce)
    await blobs.mongo.ask((db) => chunksIn(db).insertMany(some), transferMs(chunksAtOnce * chunkBytes))
  }
  const length = bytes.byteLength
  const file = { _id, length, chunkSize: chunkBytes, uploadDate: since, filename: hash }
  await blobs.mongo.ask(async (db) => {
    // If another process has stored the same bytes in the meantime, `isOurs` is false and our chunks are removed.
    const isOurs = await inserted(filesIn(db), file)
    if (!isOurs) await chunksIn(db).deleteMany({ files_id: _id })
    const { deletedCount } = await unfinishedIn(db).deleteOne({ _id })
    if (isOurs && deletedCount === 0) {
      // This process must have been suspended for an hour, so that another process has removed the chunks of this blob as abandoned.
      await filesIn(db).deleteOne({ _id })
      throw new EngineUnavailable(blobs.mongo.name)
    }
  })
}

async function read(blobs: GridFs, hash: string): Promise<Uint8Array | undefined> {
  const file = await blobs.mongo.ask((db) => fileOf(db, hash))
  if (file === null) return undefined
  const chunks = await blobs.mongo.ask(
    (db) => chunksIn(db).find({ files_id: file._id }).sort({ n: 1 }).toArray(),
    transferMs(file.length),
  )
  const bytes = Buffer.concat(chunks.map(({ data }) => data))
  if (sha256(bytes) === hash) return bytes
  // The blob may have been removed, and even stored again, during the read.
  const now = await blobs.mongo.ask((db) => fileOf(db, hash))
  if (now === null) return undefined
  if (!now._id.equals(file._id)) return read(blobs, hash)
  throw new DamagedBlob(`The blob ${hash} is damaged: its bytes have another hash.`)
}

async function check(blobs: GridFs, hash: string): Promise<'whole' | 'changed' | 'missing'> {
  const file = isBlobHash(hash) ? await blobs.mongo.ask((db) => fileOf(db, hash)) : null
  if (file === null) return 'missing'
  const found = createHash('sha256')
  await blobs.mongo.ask(async (db) => {
    const chunks = chunksIn(db).find({ files_id: file._id }, { batchSize: chunksAtOnce }).sort({ n: 1 })
    for await (const { data } of chunks) found.update(data)
  }, transferMs(file.length))
  if (found.digest('hex') === hash) return 'whole'
  // A blob that was removed during the read is missing, not changed.
  return (await blobs.mongo.ask((db) => fileOf(db, hash))) === null ? 'missing' : 'changed'
}

/** Lists blobs, oldest first. Each page is a new query, because MongoDB drops a cursor that is not used for a while. */
async function* list(blobs: GridFs, putBefore: Date): AsyncGenerator<string> {
  for (let last: StoredFile | undefined; ;) {
    const after: Filter<StoredFile> = last
      ? {
          $or: [
            { uploadDate: { $gt: last.uploadDate } },
            { uploadDate: last.uploadDate, _id: { $gt: last._id } },
          ],
        }
      : {}
    const files: StoredFile[] = await blobs.mongo.ask((db) =>
      filesIn(db)
        .find({ uploadDate: { $lt: putBefore }, ...after })
        .sort({ uploadDate: 1, _id: 1 })
        .limit(listedAtOnce)
        .toArray(),
    )
    for (const { filename } of files) yield filename
    last = files.at(-1)
    if (files.length < listedAtOnce) return
  }
}

async function put(blobs: GridFs, bytes: Uint8Array): Promise<string> {
  const hash = sha256(bytes)
  const isThere = await blobs.mongo.ask(async (db) => {
    const uploadDate = blobs.clock.now()
    return (await filesIn(db).updateOne({ filename: hash }, { $set: { uploadDate } })).matchedCount > 0
  })
  if (!isThere) await write(blobs, hash, bytes)
  return hash
}

async function remove(blobs: GridFs, hash: string, putBefore: Date | undefined): Promise<void> {
  if (!isBlobHash(hash)) return
  const age: Filter<StoredFile> = putBefore ? { uploadDate: { $lt: putBefore } } : {}
  await blobs.mongo.ask(async (db) => {
    const file = await filesIn(db).findOne({ filename: hash, ...age })
    if (file === null) return
    const { _id } = file
    await onceMoreIfDuplicate(() =>
      unfinishedIn(db).updateOne({ _id }, { $set: { since: blobs.clock.now() } }, { upsert: true }),
    )
    await filesIn(db).deleteOne({ _id, ...age })
    const isPutMeanwhile = putBefore !== undefined && (await filesIn(db).findOne({ _id })) !== null
    if (!isPutMeanwhile) await chunksIn(db).deleteMany({ files_id: _id })
    await unfinishedIn(db).deleteOne({ _id })
  })
}

function chunksOf(fileId: ObjectId, bytes: Uint8Array): StoredChunk[] {
  return Array.from({ length: Math.ceil(bytes.byteLength / chunkBytes) }, (_, n) => ({
    files_id: fileId,
    n,
    data: bytes.subarray(n * chunkBytes, (n + 1) * chunkBytes),
  }))
}

/** The timeout of a transfer: five seconds, and one more for each 4 MB. */
function transferMs(bytes: number): number {
  return 5_000 + bytes / 4_000
}

function fileOf(db: Db, hash: string): Promise<StoredFile | null> {
  return filesIn(db).findOne({ filename: hash })
}

function filesIn(db: Db): Collection<StoredFile> {
  return db.collection<StoredFile>('blobs.files')
}

function chunksIn(db: Db): Collection<StoredChunk> {
  return db.collection<StoredChunk>('blobs.chunks')
}

function unfinishedIn(db: Db): Collection<Unfinished> {
  return db.collection<Unfinished>('blobs.unfinished')
}
