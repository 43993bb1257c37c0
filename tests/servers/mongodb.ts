/** The server behind the MongoDB adapters in tests: the one at MONGODB_URL, or one in a container, or else FerretDB. */
import { randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { GenericContainer, Wait } from 'testcontainers'
import { z } from 'zod'
import { openMongo, type Mongo } from '#platform/engines/mongoConnection.ts'
import { imageOf, noContainers } from './containers.ts'
import { ferretDbVersion, startFerretDb } from './ferretdb.ts'
import { openGate, type Gate, type Passage } from './tcpGate.ts'

export interface MongoServer {
  /** What the server is, for the report; without one, the reason. */
  readonly what: string
  readonly isThere: boolean
  readonly isMongoDb: boolean
  readonly url: string
  close(): Promise<void>
}

/** A database that is removed with the test. */
export interface MongoDatabase {
  readonly mongo: Mongo
  readonly name: string
  close(): Promise<void>
}

const containerMs = 120_000
/** A long limit, since the machine may be busy with other tests; limits themselves are tested elsewhere. */
const patientMs = 60_000

/** With REQUIRE_MONGODB=1 it throws when there is no server. */
export async function startMongoServer(): Promise<MongoServer> {
  const url = process.env['MONGODB_URL']
  if (url)
    return { what: 'the server at MONGODB_URL', isThere: true, isMongoDb: true, url, close: async () => {} }
  const reasons: string[] = []
  for (const start of [inContainer, ferretDb]) {
    try {
      return await start()
    } catch (fault) {
      reasons.push(fault instanceof Error ? (fault.message.split('\n')[0] ?? '') : String(fault))
    }
  }
  const what = `no MONGODB_URL, no container (${reasons[0]}), no FerretDB (${reasons[1]})`
  if (process.env['REQUIRE_MONGODB'] === '1') throw new Error(`REQUIRE_MONGODB=1 and there is ${what}.`)
  return { what, isThere: false, isMongoDb: false, url: '', close: async () => {} }
}

/** A new database on the server, with a connection of its own. */
export async function freshDatabase(server: MongoServer): Promise<MongoDatabase> {
  const name = `flightdeck_test_${randomUUID().replaceAll('-', '')}`
  const mongo = await openMongo({
    url: server.url,
    database: name,
    timeoutMs: patientMs,
    onWaiting: () => {},
  })
  return {
    mongo,
    name,
    async close() {
      await mongo.ask((db) => db.dropDatabase())
      await mongo.close()
    },
  }
}

/** A gate in front of the server, and the address that leads through it. Only if the address names a single host. */
export async function gateBefore(
  server: MongoServer,
  passage?: Passage,
): Promise<{ gate: Gate; url: string }> {
  const [, credentials = '', host = '', port = '27017', rest = ''] =
    /^mongodb:\/\/([^/]*@)?([^:,/@]+)(?::(\d+))?(\/.*)?$/.exec(server.url) ?? []
  if (host === '') throw new Error('A gate is for one host: mongodb://host:port/…')
  const gate = await openGate({ host, port: Number(port) }, passage)
  const [path = '/', query = ''] = rest.split('?')
  const options = new URLSearchParams({
    ...Object.fromEntries(new URLSearchParams(query)),
    directConnection: 'true',
  })
  return { gate, url: `mongodb://${credentials}127.0.0.1:${gate.port}${path || '/'}?${options.toString()}` }
}

async function inContainer(): Promise<MongoServer> {
  const noEngine = await noContainers()
  const image = noEngine === undefined ? await imageOf('mongoDb') : { missing: noEngine }
  if ('missing' in image) throw new Error(image.missing)
  const container = await new GenericContainer(image.name)
    .withExposedPorts(27_017)
    .withWaitStrategy(Wait.forLogMessage(/waiting for connections|listening on/i))
    .withStartupTimeout(containerMs)
    .start()
  const url = `mongodb://${container.getHost()}:${container.getMappedPort(27_017)}/?directConnection=true`
  const isMongoDb = await isReally(url)
  return {
    what: `${image.isLocal ? `FerretDB ${ferretDbVersion} on SQLite, not MongoDB,` : image.name} in a container`,
    isThere: true,
    isMongoDb,
    url,
    close: async () => void (await container.stop()),
  }
}

async function ferretDb(): Promise<MongoServer> {
  const { url, stop } = await startFerretDb()
  return {
    what: `FerretDB ${ferretDbVersion} on SQLite, not MongoDB`,
    isThere: true,
    isMongoDb: false,
    url,
    close: stop,
  }
}

const BuildInfo = z.object({ ferretdbVersion: z.unknown() })

async function isReally(url: string): Promise<boolean> {
  const client = new MongoClient(url)
  try {
    return BuildInfo.parse(await client.db('admin').command({ buildInfo: 1 })).ferretdbVersion === undefined
  } finally {
    await client.close()
  }
}
