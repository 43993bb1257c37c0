/** Streams that cannot be read: how such a stream is quarantined, how an operator inspects it, and how it is released after its repair. */
import { z } from 'zod'
import { unreadableReasons, type Position, type StoredEvent } from '#domain/kernel/event.ts'
import { views } from '#domain/views/registry.ts'
import type { Logger } from '#platform/log.ts'
import {
  changeCatalog,
  allDocuments,
  type Change,
  type Collection,
  type ReadStore,
} from '#platform/ports/readStore.ts'
import { intact, isDamaged, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import { chainFaultOf } from './chain.ts'
import { UnreadableEvent, unreadableSentences, type EventLog } from './eventLog.ts'

/** One document per quarantined stream, with the first event that the read models do not include. */
export const quarantine: Collection = { name: 'quarantine', indexes: [] }

const Quarantined = z.object({
  id: z.string(),
  revision: z.number(),
  type: z.string(),
  reason: z.enum(unreadableReasons),
})
export type Quarantined = z.infer<typeof Quarantined>

type Store = Pick<ReadStore, 'prepare' | 'find' | 'get' | 'apply' | 'catalog' | 'replaceCatalog'>

const page = 1_000
/**
 * The same position for every write here, so that each write replaces the one before it. A released stream may later be damaged again, at a later or
 * an earlier event.
 */
export const quarantinePosition: Position = '0'

/**
 * Returns a function that quarantines a stream that could not be read, unless the stream is already quarantined from that event or an earlier one on.
 * The function returns at once; faults are logged.
 */
export function quarantiner(
  store: Pick<Store, 'prepare' | 'get' | 'apply'>,
  logger: Logger,
): (fault: UnreadableEvent) => void {
  const underWay = new Set<string>()
  async function note({ event: { stream: id, revision, type }, reason }: UnreadableEvent): Promise<void> {
    await store.prepare([quarantine])
    const known = Quarantined.safeParse(await store.get(quarantine.name, id)).data
    if (known && known.revision <= revision) return
    await store.apply([putOf({ id, revision, type, reason })], null)
    logger.error({ stream: id, revision, reason }, 'stream set aside: it cannot be read')
  }
  return (fault) => {
    const { stream } = fault.event
    if (underWay.has(stream)) return
    underWay.add(stream)
    void note(fault)
      .catch((err: unknown) => logger.warn({ err, stream }, 'failed to set a stream aside'))
      .finally(() => underWay.delete(stream))
  }
}

/** The change of the read models that quarantines a stream. */
export const putOf = (document: Quarantined): Change => ({
  kind: 'put',
  collection: quarantine.name,
  document,
  position: quarantinePosition,
})

/** One line per quarantined stream, with the stream's name. */
export async function listQuarantined(store: Store): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const quarantined of allQuarantined(store)) lines.push(lineOf(quarantined))
  return lines.length > 0 ? lines : ['No stream is set aside.']
}

/** Empties the list of quarantined streams. Called when the read models were made from another log. */
export async function clearQuarantine(store: Store): Promise<void> {
  const ids: string[] = []
  for await (const { id } of allQuarantined(store)) ids.push(id)
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

/** All quarantined streams. */
export async function* allQuarantined(store: Pick<Store, 'prepare' | 'find'>): AsyncGenerator<Quarantined> {
  await store.prepare([quarantine])
  for await (const document of allDocuments(store, quarantine.name, 'id')) yield Quarantined.parse(document)
}

const lineOf = ({ id, revision, type, reason }: Quarantined): string =>
  `${id}  event ${revision} (${type}) ${unreadableSentences[reason]}`

/** Why the stream is quarantined, and the beginning of the stored record without its content. `failed` when the stream is not quarantined. */
export async function inspectQuarantined(
  store: Store,
  eventStore: Pick<EventStore, 'readStream'>,
  stream: string,
): Promise<{ readonly lines: readonly string[]; readonly failed?: boolean }> {
  await store.prepare([quarantine])
  const quarantined = Quarantined.safeParse(await store.get(quarantine.name, stream)).data
  if (!quarantined) return { failed: true, lines: [`${stream} is not set aside.`] }
  const from = Math.max(quarantined.revision, 0)
  const [record] = await eventStore.readStream(stream, { from, direction: 'forwards', limit: 1 })
  return { lines: [lineOf(quarantined), record ? shownOf(record) : 'Nothing is stored there.'] }
}

/** How many characters of the record are shown. */
const shownLength = 600

function shownOf(record: LogRecord): string {
  if (isDamaged(record)) return `position ${record.position}  ${record.beginning}`
  const { content, ...open } = record
  return JSON.stringify({ ...open, content: content && `${content.length} characters` }).slice(0, shownLength)
}

/**
 * Releases the stream if all of it can be read and is as recorded; the projector then rebuilds all read models. `line` says what was done; `ok` is
 * false when nothing changed.
 */
export async function releaseQuarantined(
  store: Store,
  {
    log,
    eventStore,
  }: { readonly log: Pick<EventLog, 'read'>; readonly eventStore: Pick<EventStore, 'readStream'> },
  stream: string,
): Promise<{ readonly ok: boolean; readonly line: string }> {
  await store.prepare([quarantine])
  if ((await store.get(quarantine.name, stream)) === undefined)
    return { ok: false, line: `${stream} is not set aside.` }
  try {
    let before: StoredEvent | null = null
    for (let from = 0; ; from += page) {
      const events = await log.read(stream, from, page)
      for (const event of intact(
        await eventStore.readStream(stream, { from, direction: 'forwards', limit: page }),
      )) {
        const fault = chainFaultOf(event, before)
        if (fault) throw new UnreadableEvent(event, fault === 'prev' ? 'broken_chain' : 'changed')
        before = event
      }
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
  await requestRebuild(store)
  return { ok: true, line: `${stream} is back in use. Its documents are rebuilt from the log.` }
}

/** Requests a rebuild of all read models from the projector. */
export async function requestRebuild(store: Pick<Store, 'catalog' | 'replaceCatalog'>): Promise<void> {
  await changeCatalog(store, (catalog) => ({
    ...catalog,
    wanted: [...new Set([...catalog.wanted, ...views.map(({ collection }) => collection)])],
  }))
}
