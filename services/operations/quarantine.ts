/** What an operator does about streams that are set aside, while Flightdeck runs or not: sees them, looks at what is stored, takes one up again. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { OwnStores } from '#platform/compose.ts'
import { inspectFlawed, listFlawed, releaseFlawed } from '#platform/eventlog/quarantine.ts'
import type { Answer, OperationContext } from './answer.ts'
import { UnknownWords } from './operate.ts'

type Stores = Pick<OwnStores, 'readStore' | 'eventStore' | 'log'>

/** `quarantine list`, `quarantine inspect <stream>` or `quarantine release <stream>`. Throws `UnknownWords` for others. */
export function quarantineOf(words: readonly string[]): (stores: Stores) => Promise<Answer> {
  const [, verb = 'list', stream, ...rest] = words
  if (verb === 'list' && stream === undefined)
    return async ({ readStore }) => ({ lines: await listFlawed(readStore) })
  if (rest.length > 0 || stream === undefined || (verb !== 'inspect' && verb !== 'release'))
    throw new UnknownWords(`${words.join(' ')}: there is no such command.`, 'quarantine')
  return verb === 'inspect'
    ? ({ readStore, eventStore }) => inspectFlawed(readStore, eventStore, stream)
    : async ({ readStore, ...from }) => {
        const { ok, line } = await releaseFlawed(readStore, from, stream)
        return { lines: [line], failed: !ok }
      }
}

/** Works on the data folder or the engines, even while others have them open. Throws if there is no data folder, rather than create one. */
export async function onOwnStores(
  { config, logger }: OperationContext,
  operation: (stores: OwnStores) => Promise<Answer>,
): Promise<Answer> {
  if (config.engines.eventStore === null && !existsSync(join(config.dataDir, 'events.sqlite')))
    throw new Error(`There is no data folder at ${config.dataDir}. Name it with --data or DATA_DIR.`)
  const { openStores } = await import('#platform/compose.ts')
  const stores = await openStores(config, logger)
  try {
    return await operation(stores)
  } finally {
    await stores.close()
  }
}
