/** Streams that cannot be read on: what an operator sees of them, and how one is taken up again once it was mended. */
import { z } from 'zod'
import { unreadableReasons, type Position } from '#domain/kernel/event.ts'
import { views } from '#domain/views/all.ts'
import { changeCatalog } from '#platform/ports/catalog.ts'
import type { Collection, ReadStore } from '#platform/ports/readStore.ts'
import { UnreadableEvent, unreadableSentences, type EventLog } from './eventLog.ts'

/** Each stream by its name, with the event from which on nothing of it is folded. */
export const quarantine: Collection = { name: 'quarantine', indexes: [] }

const Flawed = z.object({
  id: z.string(),
  revision: z.number(),
  type: z.string(),
  reason: z.enum(unreadableReasons),
})
type Flawed = z.infer<typeof Flawed>

type Store = Pick<ReadStore, 'prepare' | 'find' | 'get' | 'apply' | 'catalog' | 'replaceCatalog'>

const page = 1_000
/**
 * Where all that is written here is said to be of, so that each word takes the place of the one before: a stream that was released may be
 * hurt again, at a later event or at an earlier one.
 */
export const quarantinePosition: Position = '0'

/** A line for each stream that is set aside, by its name. */
export async function listFlawed(store: Store): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const flawed of allFlawed(store)) lines.push(lineOf(flawed))
  return lines.length > 0 ? lines : ['No stream is set aside.']
}

/** Nothing is set aside any more: for another log than the one that it was of. */
export async function clearQuarantine(store: Store): Promise<void> {
  const ids: string[] = []
  for await (const { id } of allFlawed(store)) ids.push(id)
  for (let from = 0; from < ids.length; from += page)
    await store.apply(
      ids.slice(from, from + page).map((id) => ({
        kind: 'remove',
        collection: quarantine.name,
        id,
        position: quarantinePosition,
      })),
      null,
    )
}

async function* allFlawed(store: Store): AsyncGenerator<Flawed> {
  await store.prepare([quarantine])
  for (let after: { value: string; id: string } | undefined; ;) {
    const sort = { field: 'id', direction: 'ascending' } as const
    const found = await store.find(quarantine.name, {
      where: {},
      sort,
      limit: page,
      ...(after ? { after } : {}),
    })
    for (const document of found) yield Flawed.parse(document)
    const last = found.at(-1)
    if (!last || found.length < page) return
    after = { value: last.id, id: last.id }
  }
}

const lineOf = ({ id, revision, type, reason }: Flawed): string =>
  `${id}  event ${revision} (${type}) ${unreadableSentences[reason]}`

/**
 * Takes the stream up again when all of it can be read: its documents are made anew, by whoever projects. The first line is what came
 * of it; `ok` is false when it is as it was.
 */
export async function releaseFlawed(
  store: Store,
  log: Pick<EventLog, 'read'>,
  stream: string,
): Promise<{ readonly ok: boolean; readonly line: string }> {
  await store.prepare([quarantine])
  if ((await store.get(quarantine.name, stream)) === undefined)
    return { ok: false, line: `${stream} is not set aside.` }
  try {
    let before = ''
    for (let from = 0; ; from += page) {
      const events = await log.read(stream, from, page)
      const [first] = events
      if (first && first.meta.prev !== before) throw new UnreadableEvent(first, 'broken_chain')
      before = events.at(-1)?.meta.hash ?? before
      if (events.length < page) break
    }
  } catch (fault) {
    if (!(fault instanceof UnreadableEvent)) throw fault
    return { ok: false, line: `${stream} stays set aside: ${fault.message}` }
  }
  await store.apply(
    [{ kind: 'remove', collection: quarantine.name, id: stream, position: quarantinePosition }],
    null,
  )
  await changeCatalog(store, (catalog) => ({
    ...catalog,
    wanted: [...new Set([...catalog.wanted, ...views.map(({ collection }) => collection)])],
  }))
  return { ok: true, line: `${stream} is back in use. Its documents are rebuilt from the log.` }
}
