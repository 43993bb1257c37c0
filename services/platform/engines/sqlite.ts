/** SQLite for the embedded adapters. No other file uses the driver. Everything is synchronous. */
import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'
import { DamagedData, EngineUnavailable, NewerData, OlderData } from '../ports/faults.ts'

export type SqlValue = string | number | null | Uint8Array

/** A prepared statement. Rows are tuples in the order of SELECT or RETURNING, with the types given next to the SQL. */
export interface Statement<Values extends readonly SqlValue[], Row extends readonly SqlValue[] = never> {
  get(...values: Values): Row | undefined
  all(...values: Values): Row[]
  run(...values: Values): { readonly changes: number; readonly rowid: number }
}

/** An open database. All calls throw `EngineUnavailable` when the disk fails or the database was closed. */
export interface Sqlite {
  prepare<Values extends readonly SqlValue[], Row extends readonly SqlValue[] = never>(
    sql: string,
  ): Statement<Values, Row>
  exec(sql: string): void
  /** Commits everything that `run` does, or nothing. `run` must not await, or other work would become part of the transaction. */
  transaction<T>(run: () => T): T
  /** Moves the write-ahead log into the database file and empties it, which removes old versions of pages. */
  truncateLog(): void
  /**
   * Writes everything into the database file and closes it; a second call does nothing. The driver keeps the other files (empty by then) open until
   * the statements are garbage-collected.
   */
  close(): void
}

export interface SqliteOptions {
  readonly file: string
  /**
   * FULL survives a power cut after each commit, NORMAL may lose the last commits, OFF may lose everything. None of them loses a commit to `kill -9`.
   */
  readonly synchronous: 'FULL' | 'NORMAL' | 'OFF'
  /** The SQL that migrates format n to n + 1, oldest first. It must not change once released. */
  readonly formats: readonly string[]
  /** The format that the first of `formats` creates; older formats are refused. 1 by default. */
  readonly firstFormat?: number
  /** Whether deleted and replaced data is overwritten, as is necessary for people's texts and keys; false by default. */
  readonly overwrites?: boolean
}

/** The migration to a format that has the same tables as the one before. It only overwrites free pages, in which deleted texts may still be. */
export const overwriteFreed = '-- vacuum'

/**
 * The settings of a connection. A checkpoint of the write-ahead log blocks everything. After 16,384 pages, as here, it took up to 119 ms. After 1,000
 * pages, the default, it took 46 ms, but came so often that it determined the 95th percentile of writes, the more so the larger the file was.
 */
function pragmas({ synchronous, overwrites }: Required<Pick<SqliteOptions, 'synchronous' | 'overwrites'>>) {
  return `
    PRAGMA journal_mode = WAL;
    PRAGMA wal_autocheckpoint = 16384;
    PRAGMA synchronous = ${synchronous};
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -16384;
    PRAGMA secure_delete = ${overwrites ? 'ON' : 'OFF'};
  `
}

/**
 * Opens the database, creates the file (mode 0600) if it is missing, and migrates older formats. Throws `NewerData` and `OlderData` for unsupported
 * formats, which are not changed, and `DamagedData` when the file is not a database.
 */
export function openSqlite({
  file,
  synchronous,
  formats,
  firstFormat = 1,
  overwrites = false,
}: SqliteOptions): Sqlite {
  const guarded = <T>(call: () => T): T => {
    try {
      return call()
    } catch (fault) {
      throw named(file, fault)
    }
  }
  const found = guarded(() => {
    closeSync(openSync(file, 'a', 0o600))
    return formatOf(file)
  })
  const latest = firstFormat + formats.length - 1
  if (found > latest) throw new NewerData(file, found, latest)
  if (found > 0 && found < firstFormat) throw new OlderData(file)
  const missing = found === 0 ? formats : formats.slice(found - firstFormat + 1)

  const driver = guarded(() => new DatabaseSync(file, { timeout: 5_000 }))
  guarded(() => driver.exec(pragmas({ synchronous, overwrites })))

  const db: Sqlite = {
    prepare: (sql) => {
      const statement = guarded(() => driver.prepare(sql))
      statement.setReturnArrays(true)
      return {
        get: (...values) => guarded(() => statement.get(...values)),
        all: (...values) => guarded(() => statement.all(...values)),
        run: (...values) =>
          guarded(() => {
            const { changes, lastInsertRowid } = statement.run(...values)
            return { changes, rowid: Number(lastInsertRowid) }
          }),
      }
    },
    exec: (sql) => guarded(() => driver.exec(sql)),
    transaction: (run) => {
      begin.run()
      try {
        const result = run()
        if (result instanceof Promise) throw new TypeError('A transaction must not await.')
        commit.run()
        return result
      } catch (fault) {
        // Some faults, such as a full disk, have already ended the transaction.
        if (driver.isTransaction) db.exec('ROLLBACK')
        throw fault
      }
    },
    truncateLog: () => {
      const [blocked] = db.prepare<[], [number]>('PRAGMA wal_checkpoint(TRUNCATE)').get() ?? [1]
      if (blocked !== 0) throw new EngineUnavailable(`The database ${file}`)
    },
    close: () => {
      if (!driver.isOpen) return
      try {
        driver.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch {
        // If this fails, nothing is lost: the next opening reads the remaining log.
      } finally {
        driver.close()
      }
    },
  }
  const begin = db.prepare<[]>('BEGIN IMMEDIATE')
  const commit = db.prepare<[]>('COMMIT')

  // VACUUM cannot run in a transaction, so it runs before. If the process is killed before the new format is stored, the next start runs VACUUM
  // again.
  if (found > 0 && missing.includes(overwriteFreed)) db.exec('VACUUM')
  // Opens an up-to-date file without a write, which could fail on a full disk.
  if (found < latest)
    db.transaction(() => {
      for (const format of missing) db.exec(format)
      db.exec(`PRAGMA user_version = ${latest}`)
    })
  return db
}

/**
 * Writes the current content of a database into a new file (mode 0600), without free pages and write-ahead log. Other connections may write
 * meanwhile. Throws `EngineUnavailable`, and `DamagedData` when `from` is not a database.
 */
export function copySqlite(from: string, to: string): void {
  try {
    closeSync(openSync(to, 'wx', 0o600))
    const driver = new DatabaseSync(from, { readOnly: true, timeout: 5_000 })
    try {
      driver.prepare('VACUUM INTO ?').run(to)
    } finally {
      driver.close()
    }
  } catch (fault) {
    throw named(from, fault)
  }
}

/** The format of the file; 0 for a new one. The file is only read. */
function formatOf(file: string): number {
  const driver = new DatabaseSync(file, { readOnly: true })
  try {
    const statement = driver.prepare('PRAGMA user_version')
    statement.setReturnArrays(true)
    const [format]: [number] = statement.get()
    return format
  } finally {
    driver.close()
  }
}

// Primary result codes from https://sqlite.org/rescode.html: BUSY, LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN.
const unavailable = new Set([5, 6, 7, 8, 10, 13, 14])
// The result codes CORRUPT and NOTADB.
const damaged = new Set([11, 26])

function named(file: string, fault: unknown): unknown {
  if (!(fault instanceof Error)) return fault
  if ('errcode' in fault && typeof fault.errcode === 'number') {
    const primary = fault.errcode & 0xff
    if (unavailable.has(primary)) return new EngineUnavailable(`The database ${file}`, fault)
    if (damaged.has(primary)) return new DamagedData(file, fault)
    return fault
  }
  const isClosed = 'code' in fault && fault.code === 'ERR_INVALID_STATE'
  const isOfTheDisk = 'syscall' in fault
  return isClosed || isOfTheDisk ? new EngineUnavailable(`The database ${file}`, fault) : fault
}

/**
 * Locks a file exclusively until the returned function is called or the process ends; `undefined` when another process holds the lock. Throws
 * `EngineUnavailable` when the file cannot be used at all.
 */
export function lockFile(file: string): (() => void) | undefined {
  let driver: InstanceType<typeof DatabaseSync> | undefined
  try {
    driver = new DatabaseSync(file, { timeout: 0 })
    driver.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    const held = driver
    return () => held.close()
  } catch (fault) {
    driver?.close()
    if (fault instanceof Error && 'errcode' in fault && fault.errcode === busy) return undefined
    throw named(file, fault)
  }
}

const busy = 5
