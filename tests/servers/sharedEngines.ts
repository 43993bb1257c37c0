/** The three engines that services share when they run apart, each with nothing in it: NATS itself, and what stands for the other two here. */
import { randomUUID } from 'node:crypto'
import { note } from '../report/notes.ts'
import { startEventStoreDb, type EventStoreDbStandIn } from '../standins/eventStoreDb.ts'
import { ferretDbVersion, startFerretDb } from './ferretdb.ts'
import { gateBefore, type MongoServer } from './mongodb.ts'
import type { Gate } from './gate.ts'
import { noOwnNats, ownNats, type OwnNats } from './nats.ts'
import { oneAtATime } from './oneAtATime.ts'

export interface SharedEngines {
  readonly eventStore: EventStoreDbStandIn
  /** The way to MongoDB. */
  readonly mongo: Gate
  readonly nats: OwnNats
  /** What a process is given to find them. */
  readonly env: Readonly<Record<'EVENTSTORE_URL' | 'MONGODB_URL' | 'NATS_URL', string>>
  close(): Promise<void>
}

/** The server for MongoDB, or why there is none and the product cannot run apart here. */
export type ForMongo = { readonly server: MongoServer } | { readonly missing: string }

/** The server at MONGODB_URL, else FerretDB. Asked once for a file. */
export async function forMongo(): Promise<ForMongo> {
  if (noOwnNats !== undefined) return { missing: noOwnNats }
  const given = process.env['MONGODB_URL']
  const one = { isThere: true, isMongoDb: given !== undefined }
  if (given)
    return { server: { ...one, what: 'the server at MONGODB_URL', url: given, close: async () => {} } }
  try {
    const { url, stop } = await startFerretDb()
    const what = `FerretDB ${ferretDbVersion} on SQLite, not MongoDB`
    return { server: { ...one, what, url, close: stop } }
  } catch (fault) {
    const missing = `no server for MongoDB: ${fault instanceof Error ? fault.message.split('\n')[0] : String(fault)}`
    if (process.env['REQUIRE_MONGODB'] === '1')
      throw new Error(`REQUIRE_MONGODB=1 and there is ${missing}`, { cause: fault })
    return { missing }
  }
}

/** Starts them on free ports. The server for MongoDB goes with them. */
export async function startSharedEngines(server: MongoServer): Promise<SharedEngines> {
  // FerretDB changes a document in two steps, between which another process may come.
  const { gate, url } = await gateBefore(server, server.isMongoDb ? undefined : oneAtATime())
  const nats = await ownNats()
  const eventStore = await startEventStoreDb()
  note('services apart: EventStoreDB', 'a stand-in at the wire, behind the real client')
  note('services apart: MongoDB', server.what)
  note('services apart: NATS', 'the real nats-server with JetStream')
  return {
    eventStore,
    mongo: gate,
    nats,
    env: {
      EVENTSTORE_URL: `esdb://127.0.0.1:${eventStore.port}?tls=false`,
      MONGODB_URL: withDatabase(url, `flightdeck_${randomUUID().replaceAll('-', '')}`),
      NATS_URL: nats.url,
    },
    async close() {
      eventStore.kill()
      await nats.close()
      await gate.shut()
      await server.close()
    },
  }
}

/** The same server, another database; who may enter is still looked up where it was. */
function withDatabase(url: string, database: string): string {
  const [address = '', query = ''] = url.split('?')
  const options = new URLSearchParams(query)
  if (!options.has('authSource') && address.includes('@')) options.set('authSource', 'admin')
  return `${address.replace(/\/[^/]*$/, '')}/${database}?${options.toString()}`
}
