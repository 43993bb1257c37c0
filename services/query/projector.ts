/** The projector: folds the log into the read models, batch by batch. */
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import { views } from '#domain/views/all.ts'
import { belongs, project, type AnyRecorded, type View, type ViewDocument } from '#domain/views/view.ts'
import type { EventLog } from '#platform/commands/eventLog.ts'
import { goneWith } from '#platform/commands/documents.ts'
import { mainProjection } from '#platform/commands/projected.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Logger } from '#platform/log.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { EventStore, Subscription } from '#platform/ports/eventStore.ts'
import { TooLarge } from '#platform/ports/faults.ts'
import type { Change, Document, ReadStore } from '#platform/ports/readStore.ts'
import { lagBehind } from '#platform/watch/lag.ts'
import { moment, type Watch } from '#platform/watch/watch.ts'

export interface ProjectorEngines {
  readonly eventStore: EventStore
  readonly readStore: ReadStore
  readonly bus: Bus
  readonly log: EventLog
  readonly logger: Logger
  readonly clock: Clock
  readonly watch: Watch
}

const batch = 500
const beginning: Position = '0'

/** Starts at the checkpoint and never ends by itself. After each batch, and each second, it says how far it is. */
export async function startProjector(engines: ProjectorEngines): Promise<Subscription> {
  const { eventStore, readStore, bus, clock, watch } = engines
  let reached: Position | null = await readStore.checkpoint(mainProjection)
  const say = () =>
    reached !== null && bus.publish('projected', { projection: mainProjection, position: reached })
  const subscription = eventStore.subscribe(reached, batch, async (events) => {
    const begun = moment()
    reached = await projectBatch(engines, events)
    watch({ kind: 'projected', events, begun, ended: moment() })
    say()
  })
  const tick = setInterval(say, 1_000)
  say()
  watch({ kind: 'projector', lag: () => lagBehind(eventStore, reached, clock.now()) })
  return {
    stop() {
      watch({ kind: 'projector', lag: null })
      clearInterval(tick)
      return subscription.stop()
    },
  }
}

async function projectBatch(
  { readStore, log, logger }: ProjectorEngines,
  stored: readonly StoredEvent[],
): Promise<Position> {
  const last = stored.at(-1)
  if (!last) throw new Error('A batch has at least one event.')
  // The terminal is read from its own stream and is not projected: its content is not even opened here.
  const events = await Promise.all(
    stored.filter((event) => !event.stream.startsWith('terminal-')).map(log.open),
  )
  const changes = (await Promise.all(views.map((view) => changesOf(readStore, view, events)))).flat()
  // The checkpoint comes last: a crash before it replays the batch, and every write is a no-op then.
  const checkpoint = { projection: mainProjection, position: last.position }
  try {
    await readStore.apply(changes, checkpoint)
  } catch (fault) {
    if (!(fault instanceof TooLarge)) throw fault
    await applyWhatFits(readStore, changes, logger)
    await readStore.apply([], checkpoint)
  }
  return last.position
}

/** A document that the store does not take stays as it was, and holds up none of the others. */
async function applyWhatFits(
  readStore: ReadStore,
  changes: readonly Change[],
  logger: Logger,
): Promise<void> {
  for (const change of changes) {
    try {
      // Before every position: it moves no checkpoint.
      await readStore.apply([change], { projection: mainProjection, position: beginning })
    } catch (fault) {
      if (!(fault instanceof TooLarge)) throw fault
      logger.error({ err: fault }, 'a document is too large and is not projected')
    }
  }
}

async function changesOf<D extends ViewDocument>(
  readStore: ReadStore,
  view: View<D>,
  events: readonly AnyRecorded[],
): Promise<readonly Change[]> {
  const touched = events
    .map((event) => ({ event, ids: view.touches(event), gone: view.goneWith?.(event) }))
    .filter(({ ids, gone }) => ids.length > 0 || gone)
  if (touched.length === 0) return []
  const { collection } = view
  const before = await readStore.getMany(collection, [...new Set(touched.flatMap(({ ids }) => ids))])
  // What this collection holds was put here by this view.
  const folded = new Map<string, D | undefined>(
    [...before].map(([id, document]) => [id, document as unknown as D]),
  )
  const changes = new Map<string, Change>()
  for (const { event, ids, gone } of touched) {
    if (gone) {
      const ofBatch = [...folded].filter(([, document]) => document !== undefined && belongs(document, gone))
      const stored = await goneWith(readStore, view, event)
      for (const id of [...stored, ...ofBatch.map(([id]) => id)]) {
        folded.set(id, undefined)
        changes.set(id, { kind: 'remove', collection, id, position: event.position })
      }
    }
    for (const id of ids) {
      const document = project(view, folded.get(id), event, id)
      folded.set(id, document)
      const { position } = event
      changes.set(
        id,
        document === undefined
          ? { kind: 'remove', collection, id, position }
          : { kind: 'put', collection, document: document as unknown as Document, position },
      )
    }
  }
  return [...changes.values()]
}
