/** MongoDB: the connection that the read store, the blobs, the vault, the leases and the recent keys share. */
import { setTimeout as pause } from 'node:timers/promises'
import { within } from '../async/timeLimit.ts'
import {
  MongoClient,
  MongoCompatibilityError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from 'mongodb'
import type { Db, MongoClientOptions } from 'mongodb'
import { EngineUnavailable, UnusableEngine } from '../ports/faults.ts'
import { Late, named, refusal } from './mongoFaults.ts'

export interface Mongo {
  /** The engine and its address for messages, without user name and password. */
  readonly name: string
  /**
   * Runs work on the database. Throws `EngineUnavailable` when the engine is unavailable or does not answer within `withinMs`. The outcome of a write
   * is then unknown, and running work is not cancelled.
   */
  ask<T>(work: (db: Db) => Promise<T>, withinMs?: number): Promise<T>
  /** Throws `EngineUnavailable` while the engine does not respond. */
  ready(): Promise<void>
  close(): Promise<void>
}

export interface MongoOptions {
  /** An address with `mongodb://` or `mongodb+srv://`, with any option that the driver knows. */
  readonly url: string
  /** The name of the database, instead of the one in the address. */
  readonly database?: string
  /** Called with a sentence about what is being waited for: first after a second, then every half minute. */
  readonly onWaiting: (line: string) => void
  /** Ends the waiting. `openMongo` then throws the reason of the signal. */
  readonly signal?: AbortSignal
  /** The time limit of a usual call (10 s), of which at most 5 s are spent waiting for an unavailable server. */
  readonly timeoutMs?: number
}

/** The time limit of operations that may be slow on a large collection, such as creating an index on it or emptying it. */
export const longMs = 600_000

const usualDatabase = 'flightdeck'
const maxConnections = 16
const usualMs = 10_000
const awayMs = 5_000
const readyMs = 2_000
const closeMs = 2_000
/** How much longer than a usual call a call may wait for a connection. */
const waitQueueMs = 1_000
const firstLineMs = 1_000
const nextLineMs = 30_000
const betweenAttemptsMs = 500

/**
 * Connects, and waits for an engine that cannot be reached yet. Throws `UnusableEngine` when waiting does not help: an invalid address, wrong
 * credentials, or a server that is too old. The connection reconnects by itself when it is lost later.
 */
export async function openMongo(options: MongoOptions): Promise<Mongo> {
  const { url, onWaiting, signal, timeoutMs = usualMs } = options
  let client = clientOf(url, timeoutMs)
  const name = `MongoDB at ${placeOf(client)}`
  const database = (of = client) =>
    of.db(options.database ?? databaseOf(url), {
      // An acknowledged write must survive the loss of any one server, because the projector does not repeat what was applied.
      writeConcern: { w: 'majority', journal: true },
      // Overrides an option in the address, because a secondary could return old data.
      readPreference: 'primary',
      // Leaves out fields without a value, as JSON does; bytes are read as a Buffer.
      ignoreUndefined: true,
      promoteBuffers: true,
    })
  try {
    await connected(client, { name, onWaiting, signal }, async () => {
      await client.connect()
      // Unlike connecting, this query needs permissions, so it shows whether the user has them.
      await within(timeoutMs, database().collection('checkpoints').findOne(), () => new Late(timeoutMs))
    })
  } catch (fault) {
    await closeClient(client)
    throw fault
  }
  let closed = false
  let lateCalls = 0
  /** When a call last succeeded, or the client was made. */
  let aliveAt = performance.now()
  /**
   * Whether the client has to be replaced. The driver never ends a call whose connection breaks right before its command is written. If that is a
   * usual call, its connection is never given back: in the end all connections are lost, and all calls are late. If it is the heartbeat, the driver
   * never notices that the server is there again, and no server is found. And a client whose first search for a server failed never tries again.
   */
  const isLost = (fault: unknown): boolean => {
    if (fault instanceof MongoServerSelectionError) return performance.now() - aliveAt > timeoutMs
    if (fault instanceof Late) lateCalls += 1
    return fault instanceof MongoTopologyClosedError || lateCalls >= maxConnections
  }
  const replace = () => {
    lateCalls = 0
    aliveAt = performance.now()
    void closeClient(client)
    client = clientOf(url, timeoutMs)
  }

  const ask: Mongo['ask'] = async (work, withinMs = timeoutMs) => {
    if (closed) throw new EngineUnavailable(name)
    const asked = client
    const isOver = () => closed || asked !== client
    try {
      const result = await within(withinMs, work(database(asked)), () => new Late(withinMs))
      // A cursor of a closed client can end early, without an error.
      if (isOver()) throw new EngineUnavailable(name)
      lateCalls = 0
      aliveAt = performance.now()
      return result
    } catch (fault) {
      // For a connection that was closed during a call, the driver has many different errors.
      if (isOver()) throw new EngineUnavailable(name)
      if (isLost(fault)) replace()
      throw named(name, fault)
    }
  }

  return {
    name,
    ask,
    ready: () => ask(async (db) => void (await db.command({ ping: 1 })), Math.min(readyMs, timeoutMs)),
    close: async () => {
      closed = true
      await closeClient(client)
    },
  }
}

/**
 * The same connection for one adapter. Closing it refuses further calls of that adapter and waits for the running ones; the connection stays open.
 */
export function share(mongo: Mongo): Mongo {
  const running = new Set<Promise<unknown>>()
  let closed = false
  async function counted<T>(call: () => Promise<T>): Promise<T> {
    if (closed) throw new EngineUnavailable(mongo.name)
    const result = call()
    running.add(result)
    try {
      return await result
    } finally {
      running.delete(result)
    }
  }
  return {
    name: mongo.name,
    ask: (work, withinMs) => counted(() => mongo.ask(work, withinMs)),
    ready: () => counted(() => mongo.ready()),
    close: async () => {
      closed = true
      await Promise.allSettled(running)
    },
  }
}

function clientOf(url: string, timeoutMs: number): MongoClient {
  const options: MongoClientOptions = {
    appName: 'flightdeck',
    // The calls of a burst wait for one of these connections, instead of reaching the server all at once.
    maxPoolSize: maxConnections,
    // Without a limit, closing a client whose connections are all lost would never end.
    waitQueueTimeoutMS: timeoutMs + waitQueueMs,
    serverSelectionTimeoutMS: Math.min(awayMs, timeoutMs),
    connectTimeoutMS: Math.min(awayMs, timeoutMs),
    // The heartbeat detects a server that hangs, and then ends the calls that wait for it.
    heartbeatFrequencyMS: 5_000,
    // The driver's default is a plain object, in which inherited names such as `valueOf` seem to be set.
    fieldsAsRaw: Object.create(null),
  }
  try {
    const client = new MongoClient(url, options)
    // The driver reports topology changes here too. Without a listener, an error event would end the process.
    client.on('error', () => {})
    return client
  } catch (fault) {
    const says = fault instanceof Error && !repeats(fault.message, url) ? ` (${fault.message})` : ''
    throw new UnusableEngine(
      `MONGODB_URL is not a valid MongoDB address${says}. It looks like mongodb://user:password@host:27017/flightdeck, ` +
        'with / : @ ? # and % in the user name and password percent-encoded.',
    )
  }
}

/** Whether a message contains a part of the credentials in the address. */
function repeats(message: string, url: string): boolean {
  const credentials = /\/\/(.*)@/s.exec(url)?.[1] ?? ''
  return credentials.split(/[/:@?#%]/).some((part) => part !== '' && message.includes(part))
}

async function connected(
  client: MongoClient,
  waiting: { name: string; onWaiting: (line: string) => void; signal: AbortSignal | undefined },
  connect: () => Promise<void>,
): Promise<void> {
  const { name, onWaiting, signal } = waiting
  let reason = ''
  // Rejects when the server's version does not fit the driver. Otherwise the driver would go on waiting for such a server.
  const tooOld = new Promise<never>((_, reject) => {
    client.on('serverHeartbeatFailed', ({ failure }) => {
      reason = ` (${failure.message})`
      if (failure instanceof MongoCompatibilityError) reject(failure)
    })
  })
  const tell = () => onWaiting(`${name} does not answer${reason}: waiting for it.`)
  let lines = setTimeout(() => {
    tell()
    lines = setInterval(tell, nextLineMs)
  }, firstLineMs)
  const giveUp = () => void closeClient(client)
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    for (;;) {
      signal?.throwIfAborted()
      try {
        await Promise.race([connect(), tooOld])
        return
      } catch (fault) {
        signal?.throwIfAborted()
        const refused = refusal(name, fault) ?? named(name, fault)
        if (!(refused instanceof EngineUnavailable)) throw refused
        await pause(betweenAttemptsMs, undefined, { signal }).catch(() => {})
      }
    }
  } finally {
    clearTimeout(lines)
    signal?.removeEventListener('abort', giveUp)
  }
}

/** Closes the client. Waits at most `closeMs` for a server that hangs. */
async function closeClient(client: MongoClient): Promise<void> {
  await within(closeMs, client.close(), () => new Late(closeMs)).catch(() => {})
}

function placeOf(client: MongoClient): string {
  const { hosts, srvHost } = client.options
  return srvHost ?? hosts.map(String).join(', ')
}

function databaseOf(url: string): string {
  const named = /^[^:]+:\/\/[^/?]+\/([^?]+)/.exec(url)?.[1]
  return named === undefined ? usualDatabase : decodeURIComponent(named)
}
