/** The vault on MongoDB: wrapped data keys and encrypted secrets, which can only be read with the master key. */
import { randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Collection, Db } from 'mongodb'
import { z } from 'zod'
import { longMs, share, type Mongo } from '../engines/mongoConnection.ts'
import { inserted, isDuplicate, onceMoreIfDuplicate } from '../engines/mongoFaults.ts'
import { CannotOpen, EngineUnavailable, KeyDestroyed, TooLarge, WrongMasterKey } from '../ports/faults.ts'
import type { Vault, VaultEntry } from '../ports/vault.ts'
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

/** A data key. A destroyed scope keeps its document without a key, so that no new key is ever created for it. */
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
  readonly mongo: Mongo
  readonly masterKey: Uint8Array
  /** How long (5 s by default) this process may use a key after another process has destroyed it. */
  readonly cachedMs?: number
}

const maxCached = 1_000
const usualCachedMs = 5_000
const maxSecretBytes = 15 * 1024 * 1024

type Found = Uint8Array | 'none' | 'destroyed'

interface MongoVault {
  readonly mongo: Mongo
  readonly wrapping: Uint8Array
  readonly cache: LRUCache<string, Uint8Array | 'destroyed'>
  /** Running look-ups by scope. */
  readonly lookups: Map<string, Promise<Found>>
}

/**
 * Opens the vault in the database of the connection. Throws `WrongMasterKey` when the vault was created with another master key. A key that another
 * process destroyed is dropped here within `cachedMs`. MongoDB's journal, oplog and backups contain the wrapped form of a destroyed key until it
 * ages out; only the master key can unwrap it.
 */
export async function openMongoVault(options: MongoVaultOptions): Promise<Vault> {
  const { masterKey, cachedMs = usualCachedMs } = options
  const mongo = share(options.mongo)
  const wrapping = wrappingKey(masterKey)
  await mongo.ask(async (db) => {
    await checkMasterKey(db, wrapping, mongo.name)
    await secretsIn(db).createIndex({ scope: 1 })
  }, longMs)

  const vault: MongoVault = {
    mongo,
    wrapping,
    cache: new LRUCache({ max: maxCached, ttl: cachedMs }),
    lookups: new Map(),
  }
  return {
    seal: (scope, context, plain) => seal(vault, { scope, context }, plain),
    open: (scope, context, sealed) => open(vault, { scope, context }, sealed),
    openAll: async (scope, pieces) => openPieces(await keyOf(vault, scope), scope, pieces),
    destroy: (scope) => destroyKey(vault, scope),
    putSecret: (scope, name, secret) => putSecret(vault, scope, name, secret),
    getSecret: async (scope, name) => (await findSecret(vault, scope, name))?.secret,
    removeSecret: async (scope, name, last) => {
      const found = last === undefined ? undefined : await findSecret(vault, scope, name)
      if (found?.secret !== last) return
      const only = found === undefined ? {} : { sealed: found.sealed }
      await mongo.ask((db) => secretsIn(db).deleteOne({ _id: secretId(scope, name), ...only }))
    },
    deriveKey: (purpose) => purposeKey(masterKey, purpose),
    entries: () => entries(vault),
    importEntries: (imported) => importEntries(vault, imported),
    ready: () => mongo.ready(),
    close: async () => {
      vault.cache.clear()
      await mongo.close()
    },
  }
}

async function findSecret(vault: MongoVault, scope: string, name: string) {
  const found = await vault.mongo.ask((db) => secretsIn(db).findOne({ _id: secretId(scope, name) }))
  const plain = found === null ? undefined : await open(vault, secretPlace(scope, name), found.sealed)
  if (found === null || plain === undefined) return undefined
  return { sealed: found.sealed, secret: Buffer.from(plain).toString('utf8') }
}

async function keyOf(vault: MongoVault, scope: string): Promise<Found> {
  const known = vault.cache.get(scope)
  if (known !== undefined) return known
  const lookup = vault.lookups.get(scope) ?? lookUp(vault, scope).finally(() => vault.lookups.delete(scope))
  vault.lookups.set(scope, lookup)
  return lookup
}

async function lookUp(vault: MongoVault, scope: string): Promise<Found> {
  // A key that a majority does not have yet may be lost with the primary, and with it everything that is sealed under it.
  const found = await vault.mongo.ask((db) =>
    keysIn(db).findOne({ _id: scope }, { readConcern: { level: 'majority' } }),
  )
  // The key may have been destroyed in this process during the look-up.
  if (found?.wrapped === null || vault.cache.get(scope) === 'destroyed') return 'destroyed'
  if (found === null) return 'none'
  return remember(vault, scope, openBytes(vault.wrapping, keyPlace(scope), found.wrapped))
}

function remember(vault: MongoVault, scope: string, key: Uint8Array): Uint8Array {
  vault.cache.set(scope, key)
  return key
}

async function newKey(vault: MongoVault, scope: string): Promise<Found> {
  const key = randomBytes(keyBytes)
  const wrapped = sealBytes(vault.wrapping, keyPlace(scope), key)
  const isOurs = await vault.mongo.ask((db) => inserted(keysIn(db), { _id: scope, wrapped }))
  return isOurs && vault.cache.get(scope) !== 'destroyed' ? remember(vault, scope, key) : keyOf(vault, scope)
}

async function seal(vault: MongoVault, place: Place, plain: Uint8Array): Promise<Uint8Array> {
  const found = await keyOf(vault, place.scope)
  const key = found === 'none' ? await newKey(vault, place.scope) : found
  if (key === 'destroyed') throw new KeyDestroyed(`The key of ${place.scope} was destroyed.`)
  // Another process has made the key, and a majority does not have it yet.
  if (key === 'none') throw new EngineUnavailable(vault.mongo.name)
  return sealBytes(key, place, plain)
}

async function open(vault: MongoVault, place: Place, sealed: Uint8Array): Promise<Uint8Array | undefined> {
  const key = usableKey(await keyOf(vault, place.scope), place.scope)
  return key && openBytes(key, place, sealed)
}

async function destroyKey(vault: MongoVault, scope: string): Promise<void> {
  await vault.mongo.ask((db) =>
    onceMoreIfDuplicate(() =>
      keysIn(db).updateOne({ _id: scope }, { $set: { wrapped: null } }, { upsert: true }),
    ),
  )
  vault.cache.set(scope, 'destroyed')
  // Secrets of the scope can no longer be opened. If this is interrupted, destroying the scope again completes it.
  await vault.mongo.ask((db) => secretsIn(db).deleteMany({ scope }))
}

async function putSecret(vault: MongoVault, scope: string, name: string, secret: string): Promise<void> {
  const sealed = await seal(vault, secretPlace(scope, name), Buffer.from(secret, 'utf8'))
  if (sealed.byteLength > maxSecretBytes) throw new TooLarge(`The secret ${name} is over 15 MB.`)
  await vault.mongo.ask((db) =>
    onceMoreIfDuplicate(() =>
      secretsIn(db).replaceOne({ _id: secretId(scope, name) }, { scope, sealed }, { upsert: true }),
    ),
  )
}

/** The `_id` of a secret: its scope and its name, as JSON. */
const SecretId = z.tuple([z.string(), z.string()])
const keysAtOnce = 20_000
const secretsAtOnce = 100

async function* entries({ mongo }: MongoVault): AsyncGenerator<readonly VaultEntry[]> {
  const order = { _id: 1 } as const
  const keys = pages(mongo, (db, last) =>
    keysIn(db)
      .find({ _id: { $gt: last } })
      .sort(order)
      .limit(keysAtOnce)
      .toArray(),
  )
  for await (const page of keys)
    yield page.map(({ _id, wrapped }) => ({ scope: _id, name: null, sealed: wrapped }))
  const secrets = pages(mongo, (db, last) =>
    secretsIn(db)
      .find({ _id: { $gt: last } })
      .sort(order)
      .limit(secretsAtOnce)
      .toArray(),
  )
  for await (const page of secrets)
    yield page.map(({ _id, scope, sealed }) => ({ scope, name: SecretId.parse(JSON.parse(_id))[1], sealed }))
}

/** Each page is a new query, because MongoDB drops a cursor that is not used for a while. */
async function* pages<T extends { readonly _id: string }>(
  mongo: Mongo,
  read: (db: Db, last: string) => Promise<readonly T[]>,
): AsyncGenerator<readonly T[]> {
  for (let last: string | undefined = ''; last !== undefined;) {
    const after: string = last
    const page = await mongo.ask((db) => read(db, after), longMs)
    yield page
    last = page.at(-1)?._id
  }
}

async function importEntries({ mongo, cache }: MongoVault, imported: readonly VaultEntry[]): Promise<void> {
  const keys = imported.flatMap(({ scope, name, sealed }) =>
    name === null ? [{ _id: scope, wrapped: sealed }] : [],
  )
  const secrets = imported.flatMap(({ scope, name, sealed }) =>
    name === null ? [] : [{ _id: secretId(scope, name), scope, sealed }],
  )
  const replacing = <T extends { readonly _id: string }>({ _id, ...replacement }: T) => ({
    replaceOne: { filter: { _id }, replacement, upsert: true },
  })
  const unordered = { ordered: false }
  if (keys.length > 0)
    await mongo.ask(async (db) => {
      const insert = () => keysIn(db).insertMany(keys, unordered)
      await insertOr(insert, () => keysIn(db).bulkWrite(keys.map(replacing)))
    }, longMs)
  if (secrets.length > 0)
    await mongo.ask(async (db) => {
      const insert = () => secretsIn(db).insertMany(secrets, unordered)
      await insertOr(insert, () => secretsIn(db).bulkWrite(secrets.map(replacing)))
    }, longMs)
  for (const { scope } of imported) cache.delete(scope)
}

/** Inserts, which is fastest, or replaces if something is there already. */
async function insertOr(insert: () => Promise<unknown>, replace: () => Promise<unknown>): Promise<void> {
  try {
    await insert()
  } catch (fault) {
    if (!isDuplicate(fault)) throw fault
    await replace()
  }
}

/** Throws `WrongMasterKey` if the check value cannot be opened. The first process to open a vault stores that value. */
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

/** Returns the stored check value. If several processes open a new vault at once, only one of them creates it. */
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
