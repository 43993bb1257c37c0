/** The embedded vault: wrapped data keys and encrypted secrets in a SQLite file. */
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { CannotOpen, KeyDestroyed, WrongMasterKey } from '../ports/faults.ts'
import type { Vault, VaultEntry } from '../ports/vault.ts'
import { openSqlite, type Sqlite } from '../engines/sqlite.ts'
import {
  checkPlace,
  keyBytes,
  keyPlace,
  openBytes,
  openPieces,
  purposeKey,
  sealBytes,
  secretPlace,
  usableKey,
  wrappingKey,
} from './sealing.ts'
import type { Place } from './sealing.ts'

// A destroyed scope keeps its row without a key, so that no new key is ever created for it.
const formats = [
  `CREATE TABLE keys (scope TEXT PRIMARY KEY, wrapped BLOB) STRICT, WITHOUT ROWID;
   CREATE TABLE secrets (scope TEXT NOT NULL, name TEXT NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (scope, name)) STRICT;
   CREATE TABLE check_value (sealed BLOB NOT NULL) STRICT`,
]

const maxCached = 1_000

function statements(db: Sqlite) {
  return {
    readKey: db.prepare<[string], [Uint8Array | null]>('SELECT wrapped FROM keys WHERE scope = ?'),
    insertKey: db.prepare<[string, Uint8Array]>('INSERT INTO keys (scope, wrapped) VALUES (?, ?)'),
    destroyKey: db.prepare<[string]>(
      'INSERT INTO keys (scope, wrapped) VALUES (?, NULL) ON CONFLICT (scope) DO UPDATE SET wrapped = NULL',
    ),
    writeSecret: db.prepare<[string, string, Uint8Array]>(
      `INSERT INTO secrets (scope, name, sealed) VALUES (?, ?, ?)
     ON CONFLICT (scope, name) DO UPDATE SET sealed = excluded.sealed`,
    ),
    readSecret: db.prepare<[string, string], [Uint8Array]>(
      'SELECT sealed FROM secrets WHERE scope = ? AND name = ?',
    ),
    deleteSecret: db.prepare<[string, string]>('DELETE FROM secrets WHERE scope = ? AND name = ?'),
    importKey: db.prepare<[string, Uint8Array | null]>(
      'INSERT INTO keys (scope, wrapped) VALUES (?, ?) ON CONFLICT (scope) DO UPDATE SET wrapped = excluded.wrapped',
    ),
    keysAfter: db.prepare<[string], [string, Uint8Array | null]>(
      'SELECT scope, wrapped FROM keys WHERE scope > ? ORDER BY scope LIMIT 1000',
    ),
    secretsAfter: db.prepare<[string, string], [string, string, Uint8Array]>(
      'SELECT scope, name, sealed FROM secrets WHERE (scope, name) > (?, ?) ORDER BY scope, name LIMIT 100',
    ),
    deleteSecrets: db.prepare<[string]>('DELETE FROM secrets WHERE scope = ?'),
  }
}

function getSecret(vault: SqliteVault, scope: string, name: string): string | undefined {
  const row = vault.readSecret.get(scope, name)
  const plain = row === undefined ? undefined : open(vault, secretPlace(scope, name), row[0])
  return plain === undefined ? undefined : Buffer.from(plain).toString('utf8')
}

interface SqliteVault extends ReturnType<typeof statements> {
  readonly db: Sqlite
  readonly wrapping: Uint8Array
  readonly cache: LRUCache<string, Uint8Array>
}

/** Opens the vault in `file`. Throws `WrongMasterKey` when it was created with another master key. */
export function openSqliteVault(options: { file: string; masterKey: Uint8Array }): Vault {
  const { file, masterKey } = options
  const wrapping = wrappingKey(masterKey)
  const db = openSqlite({ file, synchronous: 'FULL', formats, overwrites: true })
  try {
    checkMasterKey(db, wrapping, file)
  } catch (fault) {
    db.close()
    throw fault
  }
  const cache = new LRUCache<string, Uint8Array>({ max: maxCached, dispose: (key) => void key.fill(0) })
  const vault: SqliteVault = { ...statements(db), db, wrapping, cache }
  return {
    seal: async (scope, context, plain) => seal(vault, { scope, context }, plain),
    open: async (scope, context, sealed) => open(vault, { scope, context }, sealed),
    openAll: async (scope, pieces) => openPieces(keyOf(vault, scope), scope, pieces),
    destroy: (scope) => destroy(vault, scope),
    putSecret: async (scope, name, secret) => {
      vault.writeSecret.run(scope, name, seal(vault, secretPlace(scope, name), Buffer.from(secret, 'utf8')))
    },
    getSecret: async (scope, name) => getSecret(vault, scope, name),
    removeSecret: async (scope, name, last) => {
      vault.db.transaction(() => {
        if (last === undefined || getSecret(vault, scope, name) === last) vault.deleteSecret.run(scope, name)
      })
    },
    deriveKey: (purpose) => purposeKey(masterKey, purpose),
    entries: () => entries(vault),
    importEntries: async (imported) => importEntries(vault, imported),
    ready: async () => {
      vault.readKey.get('')
    },
    close: async () => {
      cache.clear()
      wrapping.fill(0)
      db.close()
    },
  }
}

/** Throws `WrongMasterKey` when the vault in the database was created with another master key. */
function checkMasterKey(db: Sqlite, wrapping: Uint8Array, file: string): void {
  const row = db.prepare<[], [Uint8Array]>('SELECT sealed FROM check_value').get()
  if (row === undefined) {
    const sealed = sealBytes(wrapping, checkPlace, new Uint8Array())
    db.prepare<[Uint8Array]>('INSERT INTO check_value (sealed) VALUES (?)').run(sealed)
    return
  }
  try {
    openBytes(wrapping, checkPlace, row[0])
  } catch (fault) {
    throw fault instanceof CannotOpen ? new WrongMasterKey(file) : fault
  }
}

function remember({ cache }: SqliteVault, scope: string, key: Uint8Array): Uint8Array {
  cache.set(scope, key)
  return key
}

function keyOf(vault: SqliteVault, scope: string): Uint8Array | 'none' | 'destroyed' {
  const cached = vault.cache.get(scope)
  if (cached !== undefined) return cached
  const row = vault.readKey.get(scope)
  if (row === undefined) return 'none'
  return row[0] === null
    ? 'destroyed'
    : remember(vault, scope, openBytes(vault.wrapping, keyPlace(scope), row[0]))
}

function seal(vault: SqliteVault, place: Place, plain: Uint8Array): Uint8Array {
  const found = keyOf(vault, place.scope)
  if (found === 'destroyed') throw new KeyDestroyed(`The key of ${place.scope} was destroyed.`)
  return sealBytes(found === 'none' ? newKey(vault, place.scope) : found, place, plain)
}

function newKey(vault: SqliteVault, scope: string): Uint8Array {
  const key = randomBytes(keyBytes)
  vault.insertKey.run(scope, sealBytes(vault.wrapping, keyPlace(scope), key))
  return remember(vault, scope, key)
}

function open(vault: SqliteVault, place: Place, sealed: Uint8Array): Uint8Array | undefined {
  const key = usableKey(keyOf(vault, place.scope), place.scope)
  return key && openBytes(key, place, sealed)
}

async function destroy(vault: SqliteVault, scope: string): Promise<void> {
  vault.db.transaction(() => {
    vault.destroyKey.run(scope)
    vault.deleteSecrets.run(scope)
  })
  vault.cache.delete(scope)
  // The write-ahead log still contains the key, so the log is emptied too.
  vault.db.truncateLog()
}

async function* entries(vault: SqliteVault): AsyncGenerator<readonly VaultEntry[]> {
  for (
    let keys = vault.keysAfter.all('');
    keys.length > 0;
    keys = vault.keysAfter.all(keys.at(-1)?.[0] ?? '')
  )
    yield keys.map(([scope, sealed]) => ({ scope, name: null, sealed }))
  for (let secrets = vault.secretsAfter.all('', ''); secrets.length > 0;) {
    yield secrets.map(([scope, name, sealed]) => ({ scope, name, sealed }))
    const [scope, name] = secrets.at(-1) ?? ['', '']
    secrets = vault.secretsAfter.all(scope, name)
  }
}

function importEntries(vault: SqliteVault, imported: readonly VaultEntry[]): void {
  vault.db.transaction(() => {
    for (const { scope, name, sealed } of imported)
      if (name === null) vault.importKey.run(scope, sealed)
      else vault.writeSecret.run(scope, name, sealed)
  })
  for (const { scope } of imported) vault.cache.delete(scope)
}
