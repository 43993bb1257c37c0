import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteRecentKeys } from '#platform/recentKeys/sqlite.ts'
import { recentKeysContract } from './recentKeys.contract.ts'

recentKeysContract('SQLite', async (options) => {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-keys-'))
  const file = join(folder, 'keys.sqlite')
  const open = [openSqliteRecentKeys({ file, ...options })]
  const [keys] = open
  if (!keys) throw new Error('One was opened.')
  return {
    keys,
    async reopen() {
      const another = openSqliteRecentKeys({ file, ...options })
      open.push(another)
      return another
    },
    async close() {
      for (const one of open) await one.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
})
