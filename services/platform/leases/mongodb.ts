/**
 * Leases in MongoDB: one document per name, with a counter (the beat) that the holder of the lease increases. Clocks are never compared: a waiting
 * process takes over when the beat has not changed for long enough, and a holder that cannot increase the beat gives up earlier by its own clock.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Collection, Db } from 'mongodb'
import { share, type Mongo } from '../engines/mongoConnection.ts'
import { inserted } from '../engines/mongoFaults.ts'
import { EngineUnavailable, type ReportFault } from '../ports/faults.ts'
import type { RunningWork, Leases } from '../ports/leases.ts'
import { holdings } from './heldLeases.ts'

interface StoredLease {
  readonly _id: string
  /** `null` after the lease was returned. */
  readonly holder: string | null
  readonly term: number
  readonly beat: number
}

/**
 * An obtained lease. `since` is a time before it was obtained, in ms of this process's `performance.now()`. Other processes count the lease's silence
 * from a later time.
 */
interface Obtained {
  readonly lease: StoredLease
  readonly since: number
}

const heartbeatIntervalMs = 500
/** How often a waiting process checks the lease. A returned lease has a new holder within a second, even on a slow machine. */
const lookMs = 250
/** A lease whose beat has not changed for this long is free. */
const silentMs = 3_000
/** How long a holder relies on its last beat. It is shorter than `silentMs` by the time that stopping takes. */
const trustedMs = 2_000
const callTimeoutMs = 1_000
/** The pause of a process after it held a lease. It is longer than the interval at which other processes check, so that one of them goes first. */
const restartPauseMs = 1_000

interface MongoLeases {
  readonly mongo: Mongo
  readonly onFault: ReportFault
}

/** Leases in the database of `mongo`. Closing the leases leaves the connection open for its other users. */
export function openMongoLeases(options: { mongo: Mongo; onFault: ReportFault }): Leases {
  const mongo = share(options.mongo)
  const leases: MongoLeases = { mongo, onFault: options.onFault }
  const held = holdings((name, start, signal) => hold(leases, name, start, signal))
  return {
    hold: held.hold,
    ready: () => mongo.ready(),
    close: async () => {
      await held.close()
      await mongo.close()
    },
  }
}

function ask<T>(
  leases: MongoLeases,
  work: (leases: Collection<StoredLease>) => Promise<T>,
  withinMs = callTimeoutMs,
): Promise<T> {
  return leases.mongo.ask((db: Db) => work(db.collection<StoredLease>('leases')), withinMs)
}

/** Waits for the lease and returns it; `undefined` when stopped. `since` is a time before the lease was taken. Retries without limit. */
async function obtain(
  leases: MongoLeases,
  name: string,
  me: string,
  signal: AbortSignal,
): Promise<Obtained | undefined> {
  let seen: { term: number; beat: number; at: number } | undefined
  while (!signal.aborted) {
    try {
      const lease = await ask(leases, (leases) => leases.findOne({ _id: name }))
      const now = performance.now()
      if (lease && (lease.term !== seen?.term || lease.beat !== seen.beat)) seen = { ...lease, at: now }
      // If the lease is already ours, the answer to our `take` was lost. The lease is taken again with a new term, so that pending writes of the old
      // term have no effect.
      const isFree =
        !lease || lease.holder === null || lease.holder === me || now - (seen?.at ?? now) >= silentMs
      const taken = isFree ? await take(leases, name, me, lease) : undefined
      if (taken) return { lease: taken, since: now }
    } catch (fault) {
      if (!(fault instanceof EngineUnavailable))
        leases.onFault(`The lease of ${name} could not be asked for`, fault)
    }
    await pause(lookMs, undefined, { signal }).catch(() => {})
  }
  return undefined
}

/** Takes the lease only if it has not changed since it was read. */
async function take(
  leases: MongoLeases,
  name: string,
  me: string,
  found: StoredLease | null,
): Promise<StoredLease | undefined> {
  if (!found) {
    const fresh = { _id: name, holder: me, term: 1, beat: 0 }
    return (await ask(leases, (leases) => inserted(leases, fresh))) ? fresh : undefined
  }
  const { holder, term, beat } = found
  const mine = { holder: me, term: term + 1, beat: 0 }
  const { modifiedCount } = await ask(leases, (leases) =>
    leases.updateOne({ _id: name, holder, term, beat }, { $set: mine }),
  )
  return modifiedCount === 1 ? { _id: name, ...mine } : undefined
}

/** Renews the lease again and again. Resolves when the lease was lost, when it could not be renewed in time, or when `signal` is aborted. */
async function keep(leases: MongoLeases, { lease, since }: Obtained, signal: AbortSignal): Promise<void> {
  const { _id, holder, term } = lease
  let renewed = since
  const trustLeft = () => renewed + trustedMs - performance.now()
  for (;;) {
    await pause(Math.max(0, Math.min(heartbeatIntervalMs, trustLeft())), undefined, { signal }).catch(
      () => {},
    )
    const left = trustLeft()
    if (signal.aborted || left <= 0) return
    const sentAt = performance.now()
    try {
      const found = await ask(
        leases,
        (leases) => leases.updateOne({ _id, holder, term }, { $inc: { beat: 1 } }),
        // An answer after `left` milliseconds would be too late, since the lease is no longer trusted then.
        Math.min(callTimeoutMs, left),
      )
      if (found.matchedCount === 0) return
      renewed = sentAt
    } catch (fault) {
      if (!(fault instanceof EngineUnavailable))
        leases.onFault(`The lease of ${_id} could not be renewed`, fault)
    }
  }
}

async function giveBack(leases: MongoLeases, { _id, holder, term }: StoredLease): Promise<void> {
  await ask(leases, (leases) => leases.updateOne({ _id, holder, term }, { $set: { holder: null } })).catch(
    () => {
      // If this fails, the lease expires by itself.
    },
  )
}

async function hold(
  leases: MongoLeases,
  name: string,
  start: () => Promise<RunningWork>,
  signal: AbortSignal,
): Promise<void> {
  const me = randomUUID()
  for (;;) {
    const obtained = await obtain(leases, name, me, signal)
    if (!obtained) return
    const ending = new AbortController()
    const kept = keep(leases, obtained, AbortSignal.any([signal, ending.signal]))
    try {
      const work = await start()
      await kept
      await work.stop()
    } catch (fault) {
      leases.onFault(`What ${name} stands for did not start, or did not stop`, fault)
    }
    ending.abort()
    await kept
    await giveBack(leases, obtained.lease)
    // Lets other waiting processes start first.
    await pause(restartPauseMs, undefined, { signal }).catch(() => {})
  }
}
