/** Recent keys in MongoDB, one document per key. If two processes store the same key at once, the unique id decides which is first. */
import type { Collection } from 'mongodb'
import { share, type Mongo } from '../engines/mongoConnection.ts'
import { inserted } from '../engines/mongoFaults.ts'
import type { Clock } from '../ports/clock.ts'
import { recentKeyLimits, cleanUpsDue, type RecentKeyLimits, type RecentKeys } from '../ports/recentKeys.ts'

interface StoredKey {
  readonly _id: string
  readonly person: string
  readonly digest: string
  /** When the key was stored, in milliseconds since 1970. */
  readonly at: number
}

/** Opens the recent keys in the database of `mongo`. Closing them leaves the connection open. */
export async function openMongoRecentKeys(options: {
  mongo: Mongo
  clock: Clock
  limits?: RecentKeyLimits
}): Promise<RecentKeys> {
  const { clock, limits = recentKeyLimits } = options
  const mongo = share(options.mongo)
  const ask = <T>(work: (keys: Collection<StoredKey>) => Promise<T>): Promise<T> =>
    mongo.ask((db) => work(db.collection<StoredKey>('recent_keys')))
  await ask(async (keys) => {
    await keys.createIndex({ person: 1, at: -1 })
    await keys.createIndex({ at: 1 })
  })
  const cleanUps = cleanUpsDue()

  async function forget(persons: Iterable<string>, now: number): Promise<void> {
    await ask((keys) => keys.deleteMany({ at: { $lte: now - limits.keptMs } }))
    for (const person of persons) await forgetOf(person, now)
  }

  async function forgetOf(person: string, now: number): Promise<void> {
    const [last] = await ask((keys) =>
      keys.find({ person }).sort({ at: -1 }).skip(limits.ofPerson).limit(1).toArray(),
    )
    if (!last) return
    const upTo = Math.min(last.at, now - limits.underWayMs)
    await ask((keys) => keys.deleteMany({ person, at: { $lte: upTo } }))
  }

  return {
    async remember({ id, person }, digest) {
      const now = clock.now().getTime()
      for (;;) {
        if (await ask((keys) => inserted(keys, { _id: id, person, digest, at: now }))) {
          const due = cleanUps.add(person)
          if (due) await forget(due, now)
          return { digest, again: false }
        }
        const known = await ask((keys) => keys.findOne({ _id: id }))
        if (known && known.at > now - limits.keptMs) return { digest: known.digest, again: true }
        // Another process removed the key meanwhile, or the key is older than `keptMs` and is removed here. The next round then stores it again.
        if (known) await ask((keys) => keys.deleteOne({ _id: id, at: known.at }))
      }
    },
    ready: () => mongo.ready(),
    close: () => mongo.close(),
  }
}
