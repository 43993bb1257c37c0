/** The embedded vault: wrapped data keys and sealed secrets in a SQLite file. */
import { randomBytes } from 'node:crypto'
import { CannotOpen, KeyDestroyed, WrongMasterKey } from '../ports/faults.ts'
import type { Vault } from '../ports/vault.ts'
import { openSqlite } from '../engines/sqlite.ts'
import {
  checkPlace,
  keyBytes,
  keyPlace,
  openBytes,
  purposeKey,
  sealBytes,
  secretPlace,
  wrappingKey,
} from './sealing.ts'
import type { Place } from './sealing.ts'

// A destroyed scope keeps its row without a key, so that no new key is ever made for it.
const formats = [
  `CREATE TABLE keys (scope TEXT PRIMARY KEY, wrapped BLOB) STRICT, WITHOUT ROWID;
   CREATE TABLE secrets (scope TEXT NOT NULL, name TEXT NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (scope, name)) STRICT;
   CREATE TABLE check_value (sealed BLOB NOT NULL) STRICT`,
]

const mostCached = 1_000

/** Opens the vault in `file`. Throws `WrongMasterKey` when it was made with another master key. */
export function openSqliteVault(options: { file: string; masterKey: Uint8Array }): Vault {
  const { file, masterKey } = options
  const wrapping = wrappingKey(masterKey)
  const db = openSqlite({ file, synchronous: 'FULL', formats, overwrites: true })
  try {
    checkMasterKey()
  } catch (fault) {
    db.close()
    throw fault
  }

  const readKey = db.prepare<[string], [Uint8Array | null]>('SELECT wrapped FROM keys WHERE scope = ?')
  const insertKey = db.prepare<[string, Uint8Array]>('INSERT INTO keys (scope, wrapped) VALUES (?, ?)')
  const destroyKey = db.prepare<[string]>(
    'INSERT INTO keys (scope, wrapped) VALUES (?, NULL) ON CONFLICT (scope) DO UPDATE SET wrapped = NULL',
  )
  const writeSecret = db.prepare<[string, string, Uint8Array]>(
    `INSERT INTO secrets (scope, name, sealed) VALUES (?, ?, ?)
     ON CONFLICT (scope, name) DO UPDATE SET sealed = excluded.sealed`,
  )
  const readSecret = db.prepare<[string, string], [Uint8Array]>(
    'SELECT sealed FROM secrets WHERE scope = ? AND name = ?',
  )
  const deleteSecret = db.prepare<[string, string]>('DELETE FROM secrets WHERE scope = ? AND name = ?')
  const deleteSecrets = db.prepare<[string]>('DELETE FROM secrets WHERE scope = ?')

  // Least recently used first.
  const cache = new Map<string, Uint8Array>()

  function checkMasterKey(): void {
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

  function remember(scope: string, key: Uint8Array): Uint8Array {
    cache.delete(scope)
    cache.set(scope, key)
    for (const [oldest] of cache) {
      if (cache.size <= mostCached) break
      drop(oldest)
    }
    return key
  }

  function drop(scope: string): void {
    cache.get(scope)?.fill(0)
    cache.delete(scope)
  }

  function keyOf(scope: string): Uint8Array | 'none' | 'destroyed' {
    const cached = cache.get(scope)
    if (cached !== undefined) return remember(scope, cached)
    const row = readKey.get(scope)
    if (row === undefined) return 'none'
    return row[0] === null ? 'destroyed' : remember(scope, openBytes(wrapping, keyPlace(scope), row[0]))
  }

  function seal(place: Place, plain: Uint8Array): Uint8Array {
    const found = keyOf(place.scope)
    if (found === 'destroyed') throw new KeyDestroyed(`The key of ${place.scope} was destroyed.`)
    return sealBytes(found === 'none' ? newKey(place.scope) : found, place, plain)
  }

  function newKey(scope: string): Uint8Array {
    const key = randomBytes(keyBytes)
    insertKey.run(scope, sealBytes(wrapping, keyPlace(scope), key))
    return remember(scope, key)
  }

  function open(place: Place, sealed: Uint8Array): Uint8Array | undefined {
    const key = keyOf(place.scope)
    if (key === 'destroyed') return undefined
    if (key === 'none') throw new CannotOpen(`Nothing was ever sealed for ${place.scope}.`)
    return openBytes(key, place, sealed)
  }

  return {
    seal: async (scope, context, plain) => seal({ scope, context }, plain),
    open: async (scope, context, sealed) => open({ scope, context }, sealed),
    destroy: async (scope) => {
      db.transaction(() => {
        destroyKey.run(scope)
        deleteSecrets.run(scope)
      })
      drop(scope)
      // The write-ahead log still holds the key as it was: it is emptied too.
      db.truncateLog()
    },
    putSecret: async (scope, name, secret) => {
      writeSecret.run(scope, name, seal(secretPlace(scope, name), Buffer.from(secret, 'utf8')))
    },
    getSecret: async (scope, name) => {
      const row = readSecret.get(scope, name)
      const plain = row === undefined ? undefined : open(secretPlace(scope, name), row[0])
      return plain === undefined ? undefined : Buffer.from(plain).toString('utf8')
    },
    removeSecret: async (scope, name) => {
      deleteSecret.run(scope, name)
    },
    deriveKey: (purpose) => purposeKey(masterKey, purpose),
    ready: async () => {
      readKey.get('')
    },
    close: async () => {
      for (const scope of cache.keys()) drop(scope)
      wrapping.fill(0)
      db.close()
    },
  }
}
