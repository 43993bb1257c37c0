import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { EngineUnavailable, KeyDestroyed, TooLarge, WrongMasterKey } from '#platform/ports/faults.ts'
import { openMongoVault } from '#platform/vault/mongodb.ts'
import { note } from '../report/notes.ts'
import { freshDatabase, startMongoServer, type MongoDatabase } from '../servers/mongodb.ts'
import { vaultContract } from './vault.contract.ts'

const server = await startMongoServer()

afterAll(() => server.close())

describe.skipIf(!server.isThere)(`on ${server.what}`, () => {
  note('vault: MongoDB', server.what)

  vaultContract('MongoDB', async () => {
    const { mongo, close } = await freshDatabase(server)
    const masterKey = randomBytes(32)
    let vault = await openMongoVault({ mongo, masterKey })
    return {
      vault,
      reopen: async (another = masterKey) => {
        await vault.close()
        vault = await openMongoVault({ mongo, masterKey: another })
        return vault
      },
      close: async () => {
        await vault.close()
        await close()
      },
    }
  })

  describe('the MongoDB vault', () => {
    const masterKey = randomBytes(32)
    const words = Buffer.from('what a person wrote')
    let database: MongoDatabase
    beforeEach(async () => {
      database = await freshDatabase(server)
    })
    afterEach(() => database.close())

    const open = (options: Partial<Parameters<typeof openMongoVault>[0]> = {}) =>
      openMongoVault({ mongo: database.mongo, masterKey, ...options })

    test('several that open a new vault at once make one check value, and all of them open', async () => {
      await Promise.all(Array.from({ length: 8 }, () => open()))
      expect(await database.mongo.ask((db) => db.collection('vault_check').countDocuments())).toBe(1)
      await expect(open({ masterKey: randomBytes(32) })).rejects.toThrow(WrongMasterKey)
    })

    test('of two with different master keys that open a new vault at once, one is refused', async () => {
      const opened = await Promise.allSettled([open(), open({ masterKey: randomBytes(32) })])
      const refused = opened.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
      expect(refused).toEqual([expect.any(WrongMasterKey)])
    })

    test('a refused master key is shown nowhere, and the sentence names the engine', async () => {
      await open()
      const another = randomBytes(32)
      await expect(open({ masterKey: another })).rejects.toThrow(
        /^The keys in MongoDB at \S+:\d+ were sealed/,
      )
      await expect(open({ masterKey: another })).rejects.not.toThrow(another.toString('hex'))
    })

    test('two that seal for a new scope at once use one key', async () => {
      const [one, other] = [await open(), await open()]
      for (let scope = 0; scope < 20; scope += 1) {
        const sealed = await Promise.all([one, other].map((vault) => vault.seal(`task:${scope}`, 'c', words)))
        for (const each of sealed) {
          expect(await one.open(`task:${scope}`, 'c', each)).toEqual(words)
          expect(await other.open(`task:${scope}`, 'c', each)).toEqual(words)
        }
      }
    })

    test('a key that one process destroyed is soon gone for another', async () => {
      const [one, other] = [await open(), await open({ cachedMs: 100 })]
      const sealed = await other.seal('task:1', 'c', words)
      await other.putSecret('task:1', 'TOKEN', 'secret')
      await one.destroy('task:1')
      expect(await other.getSecret('task:1', 'TOKEN')).toBeUndefined()
      await vi.waitFor(async () => expect(await other.open('task:1', 'c', sealed)).toBeUndefined())
      await expect(other.seal('task:1', 'c', words)).rejects.toThrow(KeyDestroyed)
    })

    test('a scope that is destroyed while it is sealed for stays destroyed', async () => {
      const vault = await open()
      for (let scope = 0; scope < 20; scope += 1) {
        const sealing = vault.seal(`task:${scope}`, 'c', words).catch((fault: unknown) => fault)
        await vault.destroy(`task:${scope}`)
        await sealing
        await expect(vault.seal(`task:${scope}`, 'c', words)).rejects.toThrow(KeyDestroyed)
      }
    })

    test('neither a secret nor a key is ever in the database in the plain, and a destroyed one not at all', async () => {
      const vault = await open()
      await vault.putSecret('user:1', 'TOKEN', 'ghp_in_the_plain')
      const stored = () =>
        database.mongo.ask(async (db) => {
          const names = (await db.collections()).map(({ collectionName }) => collectionName)
          const all = await Promise.all(names.map((name) => db.collection(name).find().toArray()))
          return JSON.stringify(all.flat(), (_, value) =>
            value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
          )
        })
      expect(await stored()).toContain('TOKEN')
      expect(await stored()).not.toContain('ghp_in_the_plain')
      expect(await stored()).not.toContain(masterKey.toString('latin1'))
      await vault.destroy('user:1')
      expect(await stored()).toContain('{"_id":"user:1","wrapped":null}')
      expect(await stored()).not.toContain('TOKEN')
    })

    test('a secret that is larger than a document may be is refused, and the one before it stays', async () => {
      const vault = await open()
      await vault.putSecret('user:1', 'TOKEN', 'small')
      await expect(vault.putSecret('user:1', 'TOKEN', 'x'.repeat(16 * 1024 * 1024))).rejects.toThrow(TooLarge)
      expect(await vault.getSecret('user:1', 'TOKEN')).toBe('small')
    })

    test('what is asked of a closed vault is refused as unavailable', async () => {
      const vault = await open()
      const sealed = await vault.seal('task:1', 'c', words)
      await vault.close()
      await expect(vault.open('task:1', 'c', sealed)).rejects.toThrow(EngineUnavailable)
      await expect(vault.ready()).rejects.toThrow(EngineUnavailable)
    })
  })
})
