/**
 * Recent keys in a SQLite file. A power cut may lose the newest keys. A repeated request takes effect only once even then, because the log has the
 * ids of all commands that took effect.
 */
import type { Clock } from '../ports/clock.ts'
import { recentKeyLimits, cleanUpsDue, type RecentKeyLimits, type RecentKeys } from '../ports/recentKeys.ts'
import { openSqlite } from '../engines/sqlite.ts'

const formats = [
  `CREATE TABLE keys (id TEXT PRIMARY KEY, person TEXT NOT NULL, digest TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE INDEX keys_of_persons ON keys (person, at);
   CREATE INDEX old_keys ON keys (at)`,
]

/** Opens the recent keys in the SQLite file `file`. */
export function openSqliteRecentKeys(options: {
  file: string
  clock: Clock
  limits?: RecentKeyLimits
}): RecentKeys {
  const { file, clock, limits = recentKeyLimits } = options
  const db = openSqlite({ file, synchronous: 'NORMAL', formats })
  const find = db.prepare<[string], [digest: string, at: number]>('SELECT digest, at FROM keys WHERE id = ?')
  const put = db.prepare<[string, string, string, number]>(
    'INSERT OR REPLACE INTO keys (id, person, digest, at) VALUES (?, ?, ?, ?)',
  )
  const forgetOld = db.prepare<[number]>('DELETE FROM keys WHERE at <= ?')
  const lastKept = db.prepare<[string, number], [at: number]>(
    'SELECT at FROM keys WHERE person = ? ORDER BY at DESC LIMIT 1 OFFSET ?',
  )
  const forgetOf = db.prepare<[string, number]>('DELETE FROM keys WHERE person = ? AND at <= ?')
  const cleanUps = cleanUpsDue()

  function forget(persons: Iterable<string>, now: number): void {
    forgetOld.run(now - limits.keptMs)
    for (const person of persons) {
      const [at] = lastKept.get(person, limits.ofPerson) ?? []
      if (at !== undefined) forgetOf.run(person, Math.min(at, now - limits.underWayMs))
    }
  }

  return {
    remember: async ({ id, person }, digest) =>
      db.transaction(() => {
        const now = clock.now().getTime()
        const [known, at = 0] = find.get(id) ?? []
        if (known !== undefined && at > now - limits.keptMs) return { digest: known, again: true }
        put.run(id, person, digest, now)
        const due = cleanUps.add(person)
        if (due) forget(due, now)
        return { digest, again: false }
      }),
    ready: async () => {
      find.get('')
    },
    close: async () => db.close(),
  }
}
