/** The three engines that services in processes of their own share, all empty: NATS itself, and what takes the place of the other two here. */
import { randomUUID } from 'node:crypto'
import { note } from '../report/notes.ts'
import { startEventStoreDb, type EventStoreDbStandIn } from '../standins/eventStoreDb.ts'
import { ferretDbVersion, startFerretDb } from './ferretdb.ts'
import { gateBefore, type MongoServer } from './mongodb.ts'
import type { Gate } from './tcpGate.ts'
import { noOwnNats, ownNats, type OwnNats } from './nats.ts'
import { oneAtATime } from './oneWriteAtATime.ts'

export interface SharedEngines {
  readonly eventStore: EventStoreDbStandIn
  /** The gate in front of MongoDB. */
  readonly mongo: Gate
  readonly nats: OwnNats
  /** The variables with which a process finds the engines. */
  readonly env: Readonly<Record<'EVENTSTORE_URL' | 'MONGODB_URL' | 'NATS_URL', string>>
  close(): Promise<void>
}

/** The server for MongoDB's protocol, or why there is none, so that services cannot run in processes of their own here. */
export type ForMongo = { readonly server: MongoServer } | { readonly missing: string }

/** The server at MONGODB_URL, or else FerretDB. Started once per file. */
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

/** Starts the engines on free ports. The server for MongoDB's protocol ends with them. */
export async function startSharedEngines(server: MongoServer): Promise<SharedEngines> {
  // FerretDB changes a document in two steps, between which another process could change it.
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

/** The same server with another database; users are still looked up in the original one. */
function withDatabase(url: string, database: string): string {
  const [address = '', query = ''] = url.split('?')
  const options = new URLSearchParams(query)
  if (!options.has('authSource') && address.includes('@')) options.set('authSource', 'admin')
  return `${address.replace(/\/[^/]*$/, '')}/${database}?${options.toString()}`
}
