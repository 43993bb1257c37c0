/**
 * Loaded before the product (`node --import`), and by Node before each of its threads: ends the process by SIGKILL right after the n-th step of a
 * rebuild of the read models (`rebuildStep.js`). Each change of their files is a step, except what the projector writes to the live generation all
 * the time.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import { patchSqlite } from './patchSqlite.js'
import { fileOf, order, step } from './rebuildStep.js'

/** @param {string} sql @param {readonly unknown[]} values */
function kindOf(sql, values) {
  const text = sql.trim().replaceAll(/\s+/g, ' ')
  if (/\bcatalog\b/.test(text) && !text.startsWith('CREATE')) return catalogKind(values)
  if (text.includes('checkpoints') && !text.startsWith('CREATE')) return 'checkpoint'
  if (/wal_checkpoint/i.test(text)) return 'empty the write-ahead log'
  if (/^(CREATE|ALTER|PRAGMA user_version)/i.test(text)) return 'make tables'
  if (/^DROP/i.test(text)) return 'drop a table'
  if (/^VACUUM/i.test(text)) return 'vacuum'
  const generation = /"?docs_\w+?_g(\d+)"?/.exec(text)?.[1]
  const isLive = generation !== undefined && Number(generation) === order()?.live
  if (/^DELETE/i.test(text)) return 'empty a table'
  if (/^INSERT INTO main\./i.test(text)) return 'land documents'
  return isLive && isMainThread ? 'live' : 'fold documents'
}

/** The number of the generation that was begun last. */
let begun = 0

/** @param {readonly unknown[]} values a revision, and the catalog as text */
function catalogKind([, body]) {
  if (typeof body !== 'string') return 'catalog'
  const { building, last, live, wanted } = JSON.parse(body)
  if (building === null) {
    const isSwapped = wanted.length === 0 && Object.keys(live).length > 0
    return isSwapped ? 'catalog: swap' : 'catalog: start'
  }
  if (last === begun) return 'catalog: progress'
  begun = last
  return 'catalog: begin'
}

const writes = /\b(INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|VACUUM|wal_checkpoint|user_version =)\b/i
/** @typedef {import('@photostructure/sqlite').DatabaseSync} DatabaseSync */
/** The kinds of changes in the open transaction of each connection. */
const open = new WeakMap()

/**
 * Runs a statement, and reports it once it is on the disk.
 * @template T
 * @param {DatabaseSync} db
 * @param {string} sql
 * @param {readonly unknown[]} values
 * @param {() => T} run
 * @returns {T}
 */
function reporting(db, sql, values, run) {
  const file = fileOf(db.location() ?? '')
  const now = file === undefined ? undefined : order()
  if (now === undefined) return run()
  if (/^\s*(BEGIN|ROLLBACK)\b/i.test(sql)) {
    open.delete(db)
    return run()
  }
  if (/^\s*COMMIT\b/i.test(sql)) {
    const done = [...(open.get(db) ?? [])]
    open.delete(db)
    const result = run()
    if (done.length === 0) return result
    // The projector writes all the time, to the live generation or with its checkpoint.
    const isUsual = done.includes('checkpoint') || done.every((kind) => kind === 'live')
    if (!(now.live > 0 && isMainThread && isUsual)) step(`${file}: ${done.toSorted().join(' + ')}`)
    return result
  }
  if (!writes.test(sql)) return run()
  const result = run()
  const kind = kindOf(sql, values)
  if (db.isTransaction) open.set(db, (open.get(db) ?? new Set()).add(kind))
  else step(`${file}: ${kind}`)
  return result
}

patchSqlite(
  (Driver) =>
    class extends Driver {
      /** @param {string} sql */
      exec(sql) {
        reporting(this, sql, [], () => super.exec(sql))
      }

      /** @param {Parameters<DatabaseSync['prepare']>} given */
      prepare(...given) {
        const statement = super.prepare(...given)
        const [sql] = given
        for (const name of /** @type {const} */ (['run', 'get', 'all'])) {
          const call = statement[name]
          Object.defineProperty(statement, name, {
            /** @param {unknown[]} values */
            value: (...values) => reporting(this, sql, values, () => Reflect.apply(call, statement, values)),
          })
        }
        return statement
      }
    },
)

const { rmSync } = fs
Object.defineProperty(fs, 'rmSync', {
  /** @param {Parameters<typeof rmSync>} given */
  value: (...given) => {
    const file = fileOf(String(given[0]))
    const isThere = file !== undefined && fs.existsSync(given[0])
    rmSync(...given)
    if (isThere) step(`${file}: remove the file`)
  },
})
syncBuiltinESMExports()
