/** The commands of MongoDB that the driver sends for our adapters. Each is done at once, before the next one begins. */
import { randomInt } from 'node:crypto'
import { BSON, Long } from 'mongodb'
import { z } from 'zod'
import { Collection } from './collection.ts'
import { queryOf } from './query.ts'
import { updated, upserted } from './update.ts'
import { compareValues, isFields, notUnderstood, Refused, type Fields } from './values.ts'

export interface Stored {
  /** By database and name, with a dot between them. */
  readonly collections: Map<string, Collection>
  /** What is left to read, by cursor. */
  readonly cursors: Map<number, readonly Fields[]>
}

type Command = (sent: Fields, stored: Stored) => Fields

const largestDocument = 16 * 1024 * 1024
const usualBatch = 101
/** Every command may have them. They change nothing here. */
const general = new Set(['$db', '$readPreference', 'lsid', 'maxTimeMS', 'readConcern', 'writeConcern'])

const name = z.string()

const Document = z.custom<Fields>(isFields)
const Order = z.record(z.string(), z.union([z.literal(1), z.literal(-1)]))
const isOrdered = z.boolean().default(true)
const nothing = z.strictObject({})

const finding = z.strictObject({
  find: name,
  filter: Document.default({}),
  sort: Order.default({}),
  projection: z.record(z.string().regex(/^[^.$]+$/), z.literal(1)).optional(),
  skip: z.int().default(0),
  limit: z.int().default(0),
  batchSize: z.int().default(usualBatch),
  singleBatch: z.boolean().default(false),
})
const explaining = z.strictObject({ explain: finding, verbosity: z.literal('executionStats') })
/** What `countDocuments` sends. */
const counting = z.strictObject({
  aggregate: name,
  pipeline: z.tuple([
    z.strictObject({ $match: Document }),
    z.strictObject({
      $group: z.strictObject({ _id: z.literal(1), n: z.strictObject({ $sum: z.literal(1) }) }),
    }),
  ]),
  cursor: nothing,
})
const gettingMore = z.strictObject({ getMore: z.int(), collection: name, batchSize: z.int().optional() })
const killingCursors = z.strictObject({ killCursors: name, cursors: z.array(z.int()) })
const inserting = z.strictObject({ insert: name, documents: z.array(Document), ordered: isOrdered })
const change = z.strictObject({
  q: Document,
  u: Document,
  multi: z.literal(false).optional(),
  upsert: z.boolean().default(false),
})
const updating = z.strictObject({ update: name, updates: z.array(change), ordered: isOrdered })
const removal = z.strictObject({ q: Document, limit: z.union([z.literal(0), z.literal(1)]) })
const deleting = z.strictObject({ delete: name, deletes: z.array(removal), ordered: isOrdered })
const index = z.strictObject({ key: Order, name, unique: z.boolean().default(false) })
const indexing = z.strictObject({ createIndexes: name, indexes: z.array(index) })
const listing = z.strictObject({
  listCollections: z.literal(1),
  filter: nothing,
  cursor: nothing,
  nameOnly: z.literal(true),
  authorizedCollections: z.boolean(),
})
const dropping = z.strictObject({ drop: name })
const droppingAll = z.strictObject({ dropDatabase: z.literal(1) })

/** Does a command, which its first field names. Throws `Refused`. */
export function done(sent: Fields, stored: Stored): Fields {
  const [name = ''] = Object.keys(sent)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new Refused(59, 'CommandNotFound', `no such command: '${name}'`)
  return command(sent, stored)
}

const commands: Readonly<Record<string, Command>> = {
  hello: greeting,
  isMaster: greeting,
  ismaster: greeting,
  ping: () => ({}),
  endSessions: () => ({}),
  buildInfo: () => ({ version: '7.0.0' }),
  saslStart: () => {
    // There are no users.
    throw new Refused(18, 'AuthenticationFailed', 'Authentication failed.')
  },
  find: command(finding, (asked, ns, stored) => {
    const { projection, batchSize, singleBatch } = asked
    const found = searched(asked, ns(asked.find), stored).found.map((document) =>
      projection ? projected(document, projection) : document,
    )
    const { batch, id } = part(singleBatch ? found.slice(0, batchSize) : found, batchSize, stored)
    return { cursor: { firstBatch: batch, id, ns: ns(asked.find) } }
  }),
  explain: command(explaining, ({ explain }, ns, stored) => {
    const { found, examined } = searched(explain, ns(explain.find), stored)
    return { executionStats: { nReturned: found.length, totalDocsExamined: examined } }
  }),
  aggregate: command(counting, ({ aggregate, pipeline: [{ $match }] }, ns, { collections }) => {
    const n = collections.get(ns(aggregate))?.search({ query: queryOf($match) }).found.length ?? 0
    const firstBatch = n === 0 ? [] : [{ _id: 1, n }]
    return { cursor: { firstBatch, id: Long.ZERO, ns: ns(aggregate) } }
  }),
  getMore: command(gettingMore, (asked, ns, stored) => {
    const left = stored.cursors.get(asked.getMore)
    if (!left) throw new Refused(43, 'CursorNotFound', `cursor id ${asked.getMore} not found`)
    const { batch, id } = part(left, asked.batchSize ?? Infinity, stored, asked.getMore)
    return { cursor: { nextBatch: batch, id, ns: ns(asked.collection) } }
  }),
  killCursors: command(killingCursors, (asked, _, { cursors }) => {
    for (const cursor of asked.cursors) cursors.delete(cursor)
    return { cursorsKilled: asked.cursors.map((cursor) => Long.fromNumber(cursor)) }
  }),
  insert: command(inserting, (asked, ns, stored) => {
    const into = created(ns(asked.insert), stored)
    return inTurn(asked.documents, asked.ordered, (document) => {
      // The driver gives an id to every new document.
      if (document['_id'] === undefined) throw notUnderstood('a new document without an id')
      into.put(undefined, document)
      return 1
    })
  }),
  update: command(updating, (asked, ns, stored) => {
    let nModified = 0
    const added: Fields[] = []
    const answer = inTurn(asked.updates, asked.ordered, ({ q, u, upsert }, index) => {
      const query = queryOf(q)
      const [before] = stored.collections.get(ns(asked.update))?.search({ query, limit: 1 }).found ?? []
      if (!before && !upsert) return 0
      const after = before ? updated(before, u) : upserted(query, u)
      created(ns(asked.update), stored).put(before, after)
      if (!before) added.push({ index, _id: after['_id'] })
      else if (compareValues(before, after) !== 0) nModified += 1
      return 1
    })
    return { ...answer, nModified, ...(added.length > 0 && { upserted: added }) }
  }),
  delete: command(deleting, (asked, ns, { collections }) =>
    inTurn(asked.deletes, asked.ordered, ({ q, limit }) => {
      const from = collections.get(ns(asked.delete))
      const found = from?.search({ query: queryOf(q), limit }).found ?? []
      for (const document of found) from?.put(document, undefined)
      return found.length
    }),
  ),
  createIndexes: command(indexing, (asked, ns, stored) => {
    const into = created(ns(asked.createIndexes), stored)
    for (const { key, name, unique } of asked.indexes) into.createIndex(name, Object.entries(key), unique)
    return {}
  }),
  listCollections: command(listing, (_, ns, { collections }) => {
    const names = [...collections.keys()].filter((name) => name.startsWith(ns('')))
    const firstBatch = names.map((name) => ({ name: name.slice(ns('').length), type: 'collection' }))
    return { cursor: { firstBatch, id: Long.ZERO, ns: ns('$cmd.listCollections') } }
  }),
  drop: command(dropping, ({ drop }, ns, { collections }) => {
    collections.delete(ns(drop))
    return {}
  }),
  dropDatabase: command(droppingAll, (_, ns, { collections }) => {
    for (const name of collections.keys()) if (name.startsWith(ns(''))) collections.delete(name)
    return {}
  }),
}

/** A command of this form. Every other is refused. */
function command<Asked>(
  form: z.ZodType<Asked>,
  work: (asked: Asked, ns: (collection: string) => string, stored: Stored) => Fields,
): Command {
  return (sent, stored) => {
    const own = Object.entries(sent).filter(([name]) => !general.has(name))
    const { success, data, error } = form.safeParse(Object.fromEntries(own))
    if (!success) throw notUnderstood(`the command: ${z.prettifyError(error)}`)
    return work(data, (collection) => `${String(sent['$db'])}.${collection}`, stored)
  }
}

function greeting(): Fields {
  return {
    helloOk: true,
    ismaster: true,
    isWritablePrimary: true,
    maxBsonObjectSize: largestDocument,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    minWireVersion: 0,
    // MongoDB 7.0.
    maxWireVersion: 21,
  }
}

function created(ns: string, { collections }: Stored): Collection {
  const found = collections.get(ns) ?? new Collection(ns)
  collections.set(ns, found)
  return found
}

function searched(asked: z.output<typeof finding>, ns: string, { collections }: Stored) {
  const { filter, sort, skip, limit } = asked
  const search = { query: queryOf(filter), sort: Object.entries(sort), skip, limit }
  return collections.get(ns)?.search(search) ?? { found: [], examined: 0 }
}

function projected(document: Fields, projection: Readonly<Record<string, 1>>): Fields {
  const isShown = ([name]: [string, unknown]) => name === '_id' || Object.hasOwn(projection, name)
  return Object.fromEntries(Object.entries(document).filter(isShown))
}

/** As many documents as one answer may have, at least one, and the cursor for the rest. */
function part(
  documents: readonly Fields[],
  most: number,
  { cursors }: Stored,
  cursor = randomInt(1, 2 ** 40),
): { batch: readonly Fields[]; id: Long } {
  let bytes = 0
  let end = 0
  for (const document of documents.slice(0, Math.max(most, 1))) {
    bytes += BSON.calculateObjectSize(document)
    if (end > 0 && bytes > largestDocument) break
    end += 1
  }
  const isAll = end === documents.length
  if (isAll) cursors.delete(cursor)
  else cursors.set(cursor, documents.slice(end))
  return { batch: documents.slice(0, end), id: Long.fromNumber(isAll ? 0 : cursor) }
}

/** Does the parts of a command, up to the first refused one if they are ordered, and counts the documents. */
function inTurn<T>(parts: readonly T[], isOrdered: boolean, work: (part: T, index: number) => number) {
  let n = 0
  const writeErrors: Fields[] = []
  for (const [index, part] of parts.entries()) {
    try {
      n += work(part, index)
    } catch (fault) {
      if (!(fault instanceof Refused)) throw fault
      writeErrors.push({ index, ...fault.answer })
      if (isOrdered) break
    }
  }
  return { n, ...(writeErrors.length > 0 && { writeErrors }) }
}
