/**
 * An operator's commands that open the data folder themselves: backup, restore, migration to shared engines, the log's keys, and quarantined streams.
 */
import type { OperationResult, OperationContext } from './operation.ts'
import { UnknownWords } from './operatorCommands.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { OwnStores } from '#platform/compose.ts'
import type { Config } from '#platform/config/config.ts'
import { inspectQuarantined, listQuarantined, releaseQuarantined } from '#platform/eventlog/quarantine.ts'

/**
 * Returns the operation that the words of the command line name: `backup <folder>`, `restore <folder>`, `migrate`, `key` or `quarantine`. Returns
 * `undefined` for other words, which `readModelOperationOf` and `operationOf` know. Throws `UnknownWords`.
 */
export function standaloneOf(
  words: readonly string[],
  withKey: boolean,
): ((context: OperationContext) => Promise<OperationResult>) | undefined {
  const [verb, folder, ...rest] = words
  if (verb === 'key' && folder === undefined) return keysOf
  if (verb === 'quarantine') {
    const operation = quarantineOf(words)
    return (context) => onOwnStores(context, operation)
  }
  if (verb === 'migrate' && folder === undefined)
    return async (context) => (await import('./migrate.ts')).migrate(context)
  if (verb !== 'backup' && verb !== 'restore') return undefined
  if (folder === undefined || rest.length > 0)
    throw new UnknownWords(`${words.join(' ')}: name one folder.`, verb)
  return async (context) => {
    const [{ backup, restore }, { digestThreads }] = await Promise.all([
      import('./backup.ts'),
      import('#platform/verify/digestThreads.ts'),
    ])
    const threads = digestThreads()
    try {
      const work = { ...context, digest: threads.digest }
      return await (verb === 'backup' ? backup(folder, withKey, work) : restore(folder, work))
    } finally {
      await threads.close()
    }
  }
}

async function keysOf(context: OperationContext): Promise<OperationResult> {
  const [{ listKeys }, { commands }, { sealsFile }] = await Promise.all([
    import('./sealCommands.ts'),
    import('#platform/commands/execute.ts'),
    import('#platform/seals/sealsFile.ts'),
  ])
  const beside = { sealsFile: sealsFile(context.config.seals.file) }
  return onOwnStores(context, (stores) => listKeys({ ...stores, ...beside, commands: commands(stores.log) }))
}

type Stores = Pick<OwnStores, 'readStore' | 'eventStore' | 'log'>

/** The operation `quarantine list`, `quarantine inspect <stream>` or `quarantine release <stream>`. Throws `UnknownWords` for other words. */
function quarantineOf(words: readonly string[]): (stores: Stores) => Promise<OperationResult> {
  const [, verb = 'list', stream, ...rest] = words
  if (verb === 'list' && stream === undefined)
    return async ({ readStore }) => ({ lines: await listQuarantined(readStore) })
  if (rest.length > 0 || stream === undefined || (verb !== 'inspect' && verb !== 'release'))
    throw new UnknownWords(`${words.join(' ')}: there is no such command.`, 'quarantine')
  return verb === 'inspect'
    ? ({ readStore, eventStore }) => inspectQuarantined(readStore, eventStore, stream)
    : async ({ readStore, ...from }) => {
        const { ok, line } = await releaseQuarantined(readStore, from, stream)
        return { lines: [line], failed: !ok }
      }
}

/** Throws when the log is in the data folder and that is missing: a command about a log would otherwise begin a new one. */
export function requireLog({ engines, dataDir }: Pick<Config, 'engines' | 'dataDir'>): void {
  if (engines.eventStore === null && !existsSync(join(dataDir, 'events.sqlite')))
    throw new Error(`There is no data folder at ${dataDir}. Name it with --data or DATA_DIR.`)
}

/** Opens the data folder or the configured databases, even while another process uses them. Throws if the data folder is needed but missing. */
async function onOwnStores(
  { config, logger }: OperationContext,
  operation: (stores: OwnStores) => Promise<OperationResult>,
): Promise<OperationResult> {
  requireLog(config)
  const { openStores } = await import('#platform/compose.ts')
  const stores = await openStores(config, logger)
  try {
    return await operation(stores)
  } finally {
    await stores.close()
  }
}
