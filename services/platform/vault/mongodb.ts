/** The vault on MongoDB: wrapped data keys and sealed secrets; what lies in the database opens only with the master key. */
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Collection, Db } from 'mongodb'
import { longMs, share, type Mongo } from '../engines/mongoConnection.ts'
import { inserted, onceMoreIfDuplicate } from '../engines/mongoFaults.ts'
import { CannotOpen, KeyDestroyed, TooLarge, WrongMasterKey } from '../ports/faults.ts'
import type { Vault } from '../ports/vault.ts'
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

/** A destroyed scope keeps its document without a key, so that no new key is ever made for it. */
interface StoredKey {
  readonly _id: string
  readonly wrapped: Uint8Array | null
}

interface StoredSecret {
  readonly _id: string
  readonly scope: string
  readonly sealed: Uint8Array
}

interface StoredCheck {
  readonly _id: 'check'
  readonly sealed: Uint8Array
}

export interface MongoVaultOptions {
  /** Stays open when the vault is closed. */
  readonly mongo: Mongo
  readonly masterKey: Uint8Array
  /** For so long (5 s) a key serves on in a process that did not see another one destroy it. */
  readonly cachedMs?: number
}

const mostCached = 1_000
const usualCachedMs = 5_000
const mostSecretBytes = 15 * 1024 * 1024

/**
 * Opens the vault in the database of the connection. Throws `WrongMasterKey` when it was made with another master key.
 * A key that another process destroyed is gone here within `cachedMs`. The server's journal, oplog and back-ups hold its wrapped form for as long
 * as they go back; it opens with the master key only.
 */
export async function openMongoVault(options: MongoVaultOptions): Promise<Vault> {
  const { masterKey, cachedMs = usualCachedMs } = options
  const mongo = share(options.mongo)
  const wrapping = wrappingKey(masterKey)
  await mongo.ask(async (db) => {
    await checkMasterKey(db, wrapping, mongo.name)
    await secretsIn(db).createIndex({ scope: 1 })
  }, longMs)

  const cache = new LRUCache<string, Uint8Array | 'destroyed'>({
    max: mostCached,
    ttl: cachedMs,
  })
  const lookups = new Map<string, Promise<Uint8Array | 'none' | 'destroyed'>>()

  async function keyOf(scope: string): Promise<Uint8Array | 'none' | 'destroyed'> {
    const known = cache.get(scope)
    if (known !== undefined) return known
    const lookup = lookups.get(scope) ?? lookUp(scope).finally(() => lookups.delete(scope))
    lookups.set(scope, lookup)
    return lookup
  }

  async function lookUp(scope: string): Promise<Uint8Array | 'none' | 'destroyed'> {
    const found = await mongo.ask((db) => keysIn(db).findOne({ _id: scope }))
    // It may have been destroyed here while the answer was under way.
    if (found?.wrapped === null || cache.get(scope) === 'destroyed') return 'destroyed'
    if (found === null) return 'none'
    return remember(scope, openBytes(wrapping, keyPlace(scope), found.wrapped))
  }

  function remember(scope: string, key: Uint8Array): Uint8Array {
    cache.set(scope, key)
    return key
  }

  async function newKey(scope: string): Promise<Uint8Array | 'none' | 'destroyed'> {
    const key = randomBytes(keyBytes)
    const wrapped = sealBytes(wrapping, keyPlace(scope), key)
    const isOurs = await mongo.ask((db) => inserted(keysIn(db), { _id: scope, wrapped }))
    return isOurs && cache.get(scope) !== 'destroyed' ? remember(scope, key) : keyOf(scope)
  }

  async function seal(place: Place, plain: Uint8Array): Promise<Uint8Array> {
    const found = await keyOf(place.scope)
    const key = found === 'none' ? await newKey(place.scope) : found
    if (key === 'destroyed') throw new KeyDestroyed(`The key of ${place.scope} was destroyed.`)
    if (key === 'none') throw new Error(`The key of ${place.scope} was made and is not there.`)
    return sealBytes(key, place, plain)
  }

  async function open(place: Place, sealed: Uint8Array): Promise<Uint8Array | undefined> {
    const key = await keyOf(place.scope)
    if (key === 'destroyed') return undefined
    if (key === 'none') throw new CannotOpen(`Nothing was ever sealed for ${place.scope}.`)
    return openBytes(key, place, sealed)
  }

  return {
    seal: (scope, context, plain) => seal({ scope, context }, plain),
    open: (scope, context, sealed) => open({ scope, context }, sealed),
    destroy: async (scope) => {
      await mongo.ask((db) =>
        onceMoreIfDuplicate(() =>
          keysIn(db).updateOne({ _id: scope }, { $set: { wrapped: null } }, { upsert: true }),
        ),
      )
      cache.set(scope, 'destroyed')
      // They open no more already; should this break off, destroying again ends it.
      await mongo.ask((db) => secretsIn(db).deleteMany({ scope }))
    },
    putSecret: async (scope, name, secret) => {
      const sealed = await seal(secretPlace(scope, name), Buffer.from(secret, 'utf8'))
      if (sealed.byteLength > mostSecretBytes) throw new TooLarge(`The secret ${name} is over 15 MB.`)
      await mongo.ask((db) =>
        onceMoreIfDuplicate(() =>
          secretsIn(db).replaceOne({ _id: secretId(scope, name) }, { scope, sealed }, { upsert: true }),
        ),
      )
    },
    getSecret: async (scope, name) => {
      const found = await mongo.ask((db) => secretsIn(db).findOne({ _id: secretId(scope, name) }))
      const plain = found === null ? undefined : await open(secretPlace(scope, name), found.sealed)
      return plain === undefined ? undefined : Buffer.from(plain).toString('utf8')
    },
    removeSecret: async (scope, name) => {
      await mongo.ask((db) => secretsIn(db).deleteOne({ _id: secretId(scope, name) }))
    },
    deriveKey: (purpose) => purposeKey(masterKey, purpose),
    ready: () => mongo.ready(),
    close: async () => {
      cache.clear()
      await mongo.close()
    },
  }
}

/** The first that opens the vault leaves a check value; all the others must be able to open it. */
async function checkMasterKey(db: Db, wrapping: Uint8Array, name: string): Promise<void> {
  const checks = db.collection<StoredCheck>('vault_check')
  const fresh = { _id: 'check', sealed: sealBytes(wrapping, checkPlace, new Uint8Array()) } as const
  const found = (await checks.findOne({ _id: 'check' })) ?? (await madeBy(checks, fresh))
  try {
    openBytes(wrapping, checkPlace, found.sealed)
  } catch (fault) {
    throw fault instanceof CannotOpen ? new WrongMasterKey(name) : fault
  }
}

/** The check value that is there in the end: of those who open a new vault at once, one makes it. */
async function madeBy(checks: Collection<StoredCheck>, fresh: StoredCheck): Promise<StoredCheck> {
  if (await inserted(checks, fresh)) return fresh
  const found = await checks.findOne({ _id: 'check' })
  if (found === null) throw new Error('The check value of the vault was made and is not there.')
  return found
}

function keysIn(db: Db): Collection<StoredKey> {
  return db.collection<StoredKey>('vault_keys')
}

function secretsIn(db: Db): Collection<StoredSecret> {
  return db.collection<StoredSecret>('vault_secrets')
}

function secretId(scope: string, name: string): string {
  return JSON.stringify([scope, name])
}
