import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoServerError, type Db } from 'mongodb'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EngineUnavailable, NewerData, UnusableMasterKey } from '#platform/ports/faults.ts'
import { openSqlite } from '#platform/engines/sqlite.ts'
import { loadMasterKey } from '#platform/vault/masterKey.ts'
import { openMongoVault } from '#platform/vault/mongodb.ts'
import { openSqliteVault } from '#platform/vault/sqlite.ts'
import { vaultContract } from './vault.contract.ts'

vaultContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-vault-'))
  const file = join(folder, 'vault.db')
  const masterKey = randomBytes(32)
  let vault = openSqliteVault({ file, masterKey })
  return {
    vault,
    reopen: async (another = masterKey) => {
      await vault.close()
      vault = openSqliteVault({ file, masterKey: another })
      return vault
    },
    close: async () => {
      await vault.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe('the SQLite vault', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flightdeck-vault-'))
    file = join(folder, 'vault.db')
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** Everything that the vault has on the disk. */
  const onDisk = async () =>
    Buffer.concat(await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name)))))

  test('a destroyed key and its secrets are overwritten on the disk, in the write-ahead log too', async () => {
    const vault = openSqliteVault({ file, masterKey: randomBytes(32) })
    for (let other = 0; other < 20; other += 1) await vault.putSecret(`project:${other}`, 'TOKEN', 'kept')
    await vault.putSecret('task:1', 'TOKEN', 'lost')
    const reader = openSqlite({ file, synchronous: 'FULL', formats: [''] })
    const key = reader.prepare<[], [Uint8Array]>(`SELECT wrapped FROM keys WHERE scope = 'task:1'`).get()?.[0]
    const secret = reader
      .prepare<[], [Uint8Array]>(`SELECT sealed FROM secrets WHERE scope = 'task:1'`)
      .get()?.[0]
    reader.close()
    const traces = async () => {
      const bytes = await onDisk()
      return [key, secret].map((each) => each !== undefined && bytes.includes(Buffer.from(each)))
    }
    expect(await traces()).toEqual([true, true])
    await vault.destroy('task:1')
    expect(await traces()).toEqual([false, false])
    expect(await vault.getSecret('project:7', 'TOKEN')).toBe('kept')
    await vault.close()
  })

  test('neither a secret nor the master key is ever on the disk in the plain', async () => {
    const masterKey = randomBytes(32)
    const vault = openSqliteVault({ file, masterKey })
    await vault.putSecret('user:1', 'TOKEN', 'ghp_in_the_plain')
    await vault.close()
    const bytes = await onDisk()
    expect(bytes.includes('ghp_in_the_plain')).toBe(false)
    expect(bytes.includes(masterKey)).toBe(false)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('what is asked of a closed vault is refused as unavailable', async () => {
    const vault = openSqliteVault({ file, masterKey: randomBytes(32) })
    const sealed = await vault.seal('task:1', 'c', Buffer.from('words'))
    await vault.close()
    await expect(vault.open('task:1', 'c', sealed)).rejects.toThrow(EngineUnavailable)
    await expect(vault.ready()).rejects.toThrow(EngineUnavailable)
  })

  test('a file of a newer format is refused', () => {
    openSqlite({ file, synchronous: 'FULL', formats: ['', '', ''] }).close()
    expect(() => openSqliteVault({ file, masterKey: randomBytes(32) })).toThrow(NewerData)
  })
})

describe('the master key', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flightdeck-key-'))
    file = join(folder, 'master.key')
  })
  afterEach(() => rm(folder, { recursive: true }))

  const load = (configured?: string) => loadMasterKey({ configured, file })

  test('is taken from the configuration, in base64 or hex, and then no file is made', async () => {
    const key = randomBytes(32)
    for (const written of [
      key.toString('base64'),
      key.toString('base64url'),
      key.toString('hex'),
      ` ${key.toString('hex').toUpperCase()}\n`,
    ]) {
      expect(Buffer.from(await load(written))).toEqual(key)
    }
    expect(await readdir(folder)).toEqual([])
  })

  test('is refused with a sentence that does not show it when it is no 32 bytes', async () => {
    for (const bad of ['hunter2', randomBytes(31).toString('base64'), randomBytes(33).toString('hex')]) {
      const refusal = load(bad)
      await expect(refusal).rejects.toThrow(UnusableMasterKey)
      await expect(refusal).rejects.toThrow('MASTER_KEY must be 32 bytes in base64 or hex.')
      await expect(refusal).rejects.not.toThrow(bad)
    }
  })

  test('is made on first start, for its owner only, and found again', async () => {
    const made = await load()
    expect(made).toHaveLength(32)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual(['master.key'])
    expect(Buffer.from(await load())).toEqual(Buffer.from(made))
  })

  test('is one and the same for all that start at once', async () => {
    const keys = await Promise.all(Array.from({ length: 10 }, () => load()))
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1)
    expect(await readdir(folder)).toEqual(['master.key'])
  })

  test('finding low: is refused when others may read its file', async () => {
    await load()
    await chmod(file, 0o640)
    await expect(load()).rejects.toThrow(
      `The master key in ${file} can be read by others. Run: chmod 600 ${file}`,
    )
  })

  test('is refused, and left as it is, when its file holds something else', async () => {
    await writeFile(file, 'notes', { mode: 0o600 })
    await expect(load()).rejects.toThrow(UnusableMasterKey)
    expect(await readFile(file, 'utf8')).toBe('notes')
  })

  test('is refused with what to do when its folder is not there', async () => {
    await expect(loadMasterKey({ configured: undefined, file: join(folder, 'none', 'key') })).rejects.toThrow(
      'Make the folder writable, or set MASTER_KEY.',
    )
  })
})

test('a key of another process that only a minority of the MongoDB servers has yet is not used', async () => {
  const asked: unknown[] = []
  let check: unknown = null
  const collections: Readonly<Record<string, object>> = {
    vault_check: { findOne: async () => check, insertOne: async (made: unknown) => void (check = made) },
    vault_secrets: { createIndex: async () => '' },
    vault_keys: {
      async findOne(_filter: unknown, options: unknown) {
        asked.push(options)
        return null
      },
      insertOne: () => Promise.reject(new MongoServerError({ message: 'It is there.', code: 11_000 })),
    },
  }
  const db = { collection: (name: string) => collections[name] } as unknown as Db
  const vault = await openMongoVault({
    mongo: {
      name: 'MongoDB',
      ask: (work) => work(db),
      ready: async () => undefined,
      close: async () => undefined,
    },
    masterKey: randomBytes(32),
  })
  await expect(vault.seal('task:1', 'c', Buffer.from('words'))).rejects.toThrow(EngineUnavailable)
  expect(asked).toEqual([{ readConcern: { level: 'majority' } }, { readConcern: { level: 'majority' } }])
})
