/** What an operator asks for that opens the data folder by itself, whether the product has it or not: a backup, a restore, the log's keys. */
import type { Answer, OperationContext } from './answer.ts'
import { UnknownWords } from './operate.ts'
import { onOwnStores, quarantineOf } from './quarantine.ts'

/**
 * `backup <folder>` and `restore <folder>` copy the data folder; `key` shows the keys of the log; `quarantine` is about streams that are set aside.
 * Other words are for `operationBeside` and `operationOf`. Throws `UnknownWords`.
 */
export function standaloneOf(
  words: readonly string[],
  withKey: boolean,
): ((context: OperationContext) => Promise<Answer>) | undefined {
  const [verb, folder, ...rest] = words
  if (verb === 'key' && folder === undefined) return keysOf
  if (verb === 'quarantine') {
    const operation = quarantineOf(words)
    return (context) => onOwnStores(context, operation)
  }
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

async function keysOf(context: OperationContext): Promise<Answer> {
  const [{ listKeys }, { commands }, { sealsFile }] = await Promise.all([
    import('./seals.ts'),
    import('#platform/commands/execute.ts'),
    import('#platform/seals/sealsFile.ts'),
  ])
  const beside = { sealsFile: sealsFile(context.config.seals.file) }
  return onOwnStores(context, (stores) => listKeys({ ...stores, ...beside, commands: commands(stores.log) }))
}
