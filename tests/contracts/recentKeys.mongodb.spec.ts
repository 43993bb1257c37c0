import { afterAll, describe } from 'vitest'
import { openMongoRecentKeys } from '#platform/recentKeys/mongodb.ts'
import { note } from '../report/notes.ts'
import { freshDatabase, startMongoServer } from '../servers/mongodb.ts'
import { recentKeysContract } from './recentKeys.contract.ts'

const server = await startMongoServer()

afterAll(() => server.close())

describe.skipIf(!server.isThere)(`on ${server.what}`, () => {
  note('recent keys: MongoDB', server.what)

  recentKeysContract('MongoDB', async (options) => {
    const { mongo, close } = await freshDatabase(server)
    const keys = await openMongoRecentKeys({ mongo, ...options })
    return {
      keys,
      reopen: () => openMongoRecentKeys({ mongo, ...options }),
      close: async () => {
        await keys.close()
        await close()
      },
    }
  })
})
