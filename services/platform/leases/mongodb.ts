/**
 * Leases in MongoDB: one document a name, whose beat its holder moves on. No clock is compared with another: who waits takes over when the
 * beat stood still for as long as it looked, and a holder that could not move it gives up before that by its own clock.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Collection, Db } from 'mongodb'
import { share, type Mongo } from '../engines/mongoConnection.ts'
import { inserted } from '../engines/mongoFaults.ts'
import { EngineUnavailable, type ReportFault } from '../ports/faults.ts'
import type { Held, Leases } from '../ports/leases.ts'
import { holdings } from './heldLeases.ts'

interface StoredLease {
  readonly _id: string
  /** `null` once it was given back. */
  readonly holder: string | null
  /** Increases with each holder. */
  readonly term: number
  readonly beat: number
}

/** `since` is a time of this process, by `performance.now()`: others count from later. */
interface Obtained {
  readonly lease: StoredLease
  readonly since: number
}

const beatMs = 500
/** How often a waiting process looks: a lease that was given back has a new holder within a second, also on a slow machine. */
const lookMs = 250
/** A lease whose beat stands still for so long is free. */
const silentMs = 3_000
/** How long a holder trusts its last beat: less than `silentMs`, by the time that stopping takes. */
const trustedMs = 2_000
const callMs = 1_000
/** Longer than others take to look again. */
const startAgainMs = 1_000

interface MongoLeases {
  readonly mongo: Mongo
  readonly onFault: ReportFault
}

/** Leases in the database of the connection, which stays open when they are closed. */
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
  withinMs = callMs,
): Promise<T> {
  return leases.mongo.ask((db: Db) => work(db.collection<StoredLease>('leases')), withinMs)
}

/** The lease as this one's own, with a time before which it became so; asks for ever, and gives `undefined` once it is stopped. */
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
      // Its own: an answer was lost on the way. It is taken again, so that what is still on the way for the old term does nothing.
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

/** Takes the lease only if it is still as it was found. */
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

/** Resolves when the lease is held no more, or could not be renewed in time, or this is to stop. */
async function keep(leases: MongoLeases, { lease, since }: Obtained, signal: AbortSignal): Promise<void> {
  const { _id, holder, term } = lease
  let renewed = since
  const trustLeft = () => renewed + trustedMs - performance.now()
  for (;;) {
    await pause(Math.max(0, Math.min(beatMs, trustLeft())), undefined, { signal }).catch(() => {})
    const left = trustLeft()
    if (signal.aborted || left <= 0) return
    const asked = performance.now()
    try {
      const found = await ask(
        leases,
        (leases) => leases.updateOne({ _id, holder, term }, { $inc: { beat: 1 } }),
        // The answer that comes later is trusted no more.
        Math.min(callMs, left),
      )
      if (found.matchedCount === 0) return
      renewed = asked
    } catch (fault) {
      if (!(fault instanceof EngineUnavailable))
        leases.onFault(`The lease of ${_id} could not be renewed`, fault)
    }
  }
}

async function giveBack(leases: MongoLeases, { _id, holder, term }: StoredLease): Promise<void> {
  await ask(leases, (leases) => leases.updateOne({ _id, holder, term }, { $set: { holder: null } })).catch(
    () => {
      // It runs out by itself.
    },
  )
}

async function hold(
  leases: MongoLeases,
  name: string,
  start: () => Promise<Held>,
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
    // Others that wait get a chance to start it first.
    await pause(startAgainMs, undefined, { signal }).catch(() => {})
  }
}
