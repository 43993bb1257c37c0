/**
 * The read store on MongoDB. A collection has entries of the form `{ _id, position, document }`. Every write concerns one document and is guarded by
 * its position. There are no transactions: an interrupted batch is applied again, and the writes that were already done then do nothing.
 */
import { BSON, type AnyBulkWriteOperation, type Collection, type Db } from 'mongodb'
import { sortKey } from '#domain/kernel/event.ts'
import { longMs, share, type Mongo } from '../engines/mongoConnection.ts'
import { isDuplicate, onceMoreIfDuplicate } from '../engines/mongoFaults.ts'
import { TooLarge } from '../ports/faults.ts'
import {
  emptyCatalog,
  catalogIn,
  isGeneration,
  storedNames,
  type Catalog,
  type Change,
  type Document,
  type ReadStore,
  type Served,
} from '../ports/readStore.ts'
import { collectionOf, filterOf, indexOf, nameStoredAs, pageOf, escaped, unescaped } from './mongoQueries.ts'

/** What MongoDB stores for a document. When the document is removed, this entry stays, without `document`. */
interface Stored {
  readonly _id: string
  readonly position: string
  readonly document?: Document
  /** Set when some keys of the document are stored escaped. */
  readonly hasEscapedKeys?: true
}

/** The time limit for a projector's batch. Reads have the time limit of the connection. */
const applyMs = 30_000
/**
 * The maximum size of a document in bytes: MongoDB's limit for an entry (https://www.mongodb.com/docs/manual/reference/limits/), minus room for its
 * other fields.
 */
const maxBytes = 16 * 1024 * 1024 - 1024
/** Each attempt drops the writes that are older than the stored documents; more than a few attempts in a row are a bug. */
const maxAttempts = 10

interface MongoReadStore {
  readonly mongo: Mongo
  readonly names: ReturnType<typeof storedNames>
  readonly isServed: ReadonlySet<string>
  known: Catalog
}

/** The read models in the database of the connection, which stays open when the store is closed. */
export function openMongoReadStore(options: { mongo: Mongo; served?: readonly Served[] }): ReadStore {
  const { served = [] } = options
  const mongo = share(options.mongo)
  const store: MongoReadStore = {
    mongo,
    names: storedNames(served),
    isServed: new Set(served.map(({ collection }) => collection)),
    known: emptyCatalog,
  }
  const readStore: ReadStore = {
    ...collectionCalls(store),
    ...catalogCalls(store),
    ...writeCalls(store),
    ...readCalls(store),
    async aside() {
      // Writers do not block each other in MongoDB, so no separate store is needed: all writes go to the same collections at once.
      const { prepare, apply, getMany, find } = readStore
      return { prepare, apply, getMany, find, land: async () => {}, close: async () => {} }
    },
    removeAsides: async () => undefined,
    // Nothing to do here: the server's files belong to its operator. Removed data stays in its journal and oplog until it ages out.
    scrub: async () => undefined,
    ready: () => mongo.ready(),
    close: () => mongo.close(),
  }
  return readStore
}

function collectionCalls(store: MongoReadStore): Pick<ReadStore, 'prepare' | 'generations' | 'drop'> {
  const { mongo } = store
  return {
    prepare: (collections) =>
      mongo.ask(async (db) => {
        for (const { name, indexes } of collections) {
          const collection = storedIn(db, name)
          // One command per index: servers differ in what they do when some of several indexes exist already.
          for (const fields of indexes) {
            const key = indexOf(fields)
            if (key.size > 0) await collection.createIndex(key)
          }
        }
      }, longMs),
    generations: () =>
      mongo.ask(async (db) => {
        const found = await db.listCollections({}, { nameOnly: true }).toArray()
        return found.flatMap(({ name }) => nameStoredAs(name) ?? []).filter(isGeneration)
      }),
    drop: (collections) =>
      mongo.ask(async (db) => {
        for (const name of collections) await storedIn(db, name).drop()
      }, longMs),
  }
}

/** The calls about the catalog, which only one writer at a time can replace. */
function catalogCalls(store: MongoReadStore): Pick<ReadStore, 'catalog' | 'replaceCatalog'> {
  const { mongo } = store
  return {
    catalog: () => mongo.ask((db) => readCatalog(store, db)),
    replaceCatalog: (next) =>
      mongo.ask(async (db) => {
        const catalogs = db.collection<{ _id: string; revision: number; body: string }>('catalog')
        const body = JSON.stringify(next)
        if (next.revision > 1) {
          const { matchedCount } = await catalogs.replaceOne(
            { _id: 'catalog', revision: next.revision - 1 },
            { revision: next.revision, body },
          )
          return matchedCount === 1
        }
        try {
          await catalogs.insertOne({ _id: 'catalog', revision: next.revision, body })
          return true
        } catch (fault) {
          if (isDuplicate(fault)) return false
          throw fault
        }
      }),
  }
}

function writeCalls(store: MongoReadStore): Pick<ReadStore, 'apply' | 'checkpoint' | 'forget'> {
  const { mongo } = store
  return {
    apply: (changes, checkpoint) =>
      mongo.ask(async (db) => {
        const writes = writesOf(changes)
        const catalog = [...writes.keys()].some((name) => store.isServed.has(name))
          ? await readCatalog(store, db)
          : store.known
        for (const [collection, wanted] of writes)
          await write(storedIn(db, store.names(collection, catalog)), wanted)
        if (checkpoint === null) return
        const { projection, position } = checkpoint
        await onceMoreIfDuplicate(() =>
          checkpoints(db).updateOne(
            { _id: projection },
            { $max: { position: sortKey(position) } },
            { upsert: true },
          ),
        )
      }, applyMs),
    checkpoint: (projection) =>
      mongo.ask(async (db) => {
        const found = await checkpoints(db).findOne({ _id: projection })
        return found === null ? null : found.position.replace(/^0+(?=\d)/, '')
      }),
    forget: (projection) =>
      mongo.ask(async (db) => void (await checkpoints(db).deleteOne({ _id: projection }))),
  }
}

function readCalls(store: MongoReadStore): Pick<ReadStore, 'get' | 'getMany' | 'find' | 'count'> {
  const { mongo } = store
  return {
    get: (collection, id) =>
      mongo.ask(async (db) => {
        const found = await reading(store, db, collection, (stored) => stored.findOne({ _id: id }))
        return found === null ? undefined : documentOf(found)
      }),
    getMany: (collection, ids) =>
      mongo.ask(async (db) => {
        const found = await reading(store, db, collection, (stored) =>
          stored.find({ _id: { $in: [...ids] } }).toArray(),
        )
        return byId(found)
      }),
    find: (collection, query) =>
      mongo.ask(async (db) => {
        const { filter, sort } = pageOf(query)
        // For MongoDB, a limit of 0 means no limit.
        if (query.limit <= 0) return []
        const found = await reading(store, db, collection, (stored) =>
          stored.find(filter).sort(sort).limit(query.limit).toArray(),
        )
        return [...byId(found).values()]
      }),
    count: (collection, where) =>
      mongo.ask((db) => reading(store, db, collection, (stored) => stored.countDocuments(filterOf(where)))),
  }
}

async function readCatalog(store: MongoReadStore, db: Db): Promise<Catalog> {
  const found = await db.collection<{ _id: string; revision: number; body: string }>('catalog').findOne({
    _id: 'catalog',
  })
  store.known = catalogIn(found?.body)
  return store.known
}

/**
 * Reads a live generation without an extra wait: reads from the last known generation and reads the catalog at the same time. A generation never
 * becomes live again, so if it is still live, it was live all the time. If not, the read is repeated on the generation that is live now.
 */
async function reading<T>(
  store: MongoReadStore,
  db: Db,
  collection: string,
  read: (stored: Collection<Stored>) => Promise<T>,
): Promise<T> {
  if (!store.isServed.has(collection)) return read(storedIn(db, collection))
  for (;;) {
    const before = store.known.live[collection]?.name
    const [catalog, found] = await Promise.all([
      readCatalog(store, db),
      before === undefined ? undefined : read(storedIn(db, before)),
    ])
    const now = store.names(collection, catalog)
    if (before === now && found !== undefined) return found
    store.known = catalog
  }
}

function checkpoints(db: Db) {
  return db.collection<{ _id: string; position: string }>('checkpoints')
}

function storedIn(db: Db, collection: string): Collection<Stored> {
  return db.collection<Stored>(collectionOf(collection))
}

/** The entries to store, by collection, in the order of the changes. Throws `TooLarge` before anything is written. */
function writesOf(changes: readonly Change[]): ReadonlyMap<string, readonly Stored[]> {
  const writes = new Map<string, Stored[]>()
  for (const change of changes) {
    const wanted = writes.get(change.collection) ?? []
    writes.set(change.collection, wanted)
    wanted.push(storedOf(change))
  }
  return writes
}

function storedOf(change: Change): Stored {
  const position = sortKey(change.position)
  switch (change.kind) {
    case 'remove':
      return { _id: change.id, position }
    case 'put': {
      const { document, hasEscapedKeys } = escaped(change.document)
      if (BSON.calculateObjectSize(document, { ignoreUndefined: true }) > maxBytes) {
        throw new TooLarge(
          `The document ${change.document.id} of ${change.collection} is over the 16 MB that MongoDB takes.`,
        )
      }
      return { _id: change.document.id, position, document, ...(hasEscapedKeys && { hasEscapedKeys }) }
    }
  }
}

/**
 * Writes documents in order. A write that is older than the stored document finds no document at or below its position, tries to insert one, and
 * fails because a document with this id exists. Such writes are dropped. All others are repeated, which changes nothing if they were already done.
 */
async function write(collection: Collection<Stored>, all: readonly Stored[]): Promise<void> {
  let wanted = all
  for (let attempt = 1; wanted.length > 0; attempt += 1) {
    try {
      await collection.bulkWrite(wanted.map(guarded), { ordered: true })
      return
    } catch (fault) {
      if (!isDuplicate(fault) || attempt === maxAttempts) throw fault
    }
    const ids = [...new Set(wanted.map(({ _id }) => _id))]
    const found = await collection
      .find({ _id: { $in: ids } })
      .project<{ _id: string; position: string }>({ position: 1 })
      .toArray()
    const positions = new Map(found.map(({ _id, position }) => [_id, position]))
    wanted = wanted.filter(({ _id, position }) => position >= (positions.get(_id) ?? ''))
  }
}

function guarded({ _id, ...replacement }: Stored): AnyBulkWriteOperation<Stored> {
  return {
    replaceOne: { filter: { _id, position: { $lte: replacement.position } }, replacement, upsert: true },
  }
}

function byId(found: readonly Stored[]): ReadonlyMap<string, Document> {
  return new Map(
    found.flatMap((stored) => {
      const document = documentOf(stored)
      return document === undefined ? [] : [[stored._id, document] as const]
    }),
  )
}

function documentOf({ document, hasEscapedKeys }: Stored): Document | undefined {
  if (document === undefined) return undefined
  return hasEscapedKeys ? unescaped(document) : document
}
