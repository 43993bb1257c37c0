/**
 * The projector folds the log into the read models, one batch after the other. Read models that belong to another log or to an older version are
 * built again in new collections. Once a new collection contains all events, it replaces the old collection.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Engines } from '#platform/compose.ts'
import { serialize, type Serialize } from '#platform/async/queue.ts'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import { views } from '#domain/views/registry.ts'
import type { View, ViewDocument } from '#domain/views/view.ts'
import { projectedEvents, wantedBy } from '#platform/reads/documents.ts'
import { allQuarantined, clearQuarantine } from '#platform/eventlog/quarantine.ts'
import { mainProjection } from '#platform/reads/projectionWait.ts'
import { intact, type LogRecord, type Subscription } from '#platform/ports/eventStore.ts'
import { changeCatalog, type Build, type Catalog, type Collection } from '#platform/ports/readStore.ts'
import { lagBehind } from '#platform/telemetry/projectionProgress.ts'
import { now } from '#platform/telemetry/telemetry.ts'
import { auxiliaryCollections, openFold, placed, type Fold } from './fold.ts'
import * as generations from './catalogChanges.ts'
import { releaseSkipped } from './skippedEvents.ts'
import { folding, type DoWork, type Progress } from './rebuild.ts'

/** Called with sentences for the operator about streams in quarantine, whenever their number changes. */
export type TellQuarantine = (sentences: readonly string[]) => void

export type ProjectorEngines = Pick<
  Engines,
  'eventStore' | 'readStore' | 'bus' | 'log' | 'logIdentity' | 'logger' | 'clock' | 'emit'
>

/** How read models are rebuilt: the function that does the work, the number of parallel parts, and how long replaced collections are kept. */
export interface Rebuilding {
  readonly doWork: DoWork
  readonly parts: number
  readonly keptMs: number
}

type Views = readonly View<ViewDocument>[]

const batch = 500
const reportIntervalMs = 1_000
const pollIntervalMs = 5_000
const firstPauseMs = 500
const longestPauseMs = 30_000

interface Projector extends ProjectorEngines {
  readonly tell: TellQuarantine
  readonly rebuilding: Rebuilding
  readonly signal: AbortSignal
  /** Runs batches and replacements of read models one after the other. */
  readonly serialized: Serialize
  reached: Position | null
  /** The fold into the live read models; `null` while no read model is live. */
  fold: Fold | null
  subscription: Subscription | null
  /** The streams in quarantine whose documents are marked, each with the revision of the first event that is not folded. */
  readonly setAside: Map<string, number>
}

/** Starts the projector at its checkpoint. It runs until it is stopped, and publishes its position after each batch and every second. */
export async function startProjector(
  engines: ProjectorEngines,
  rebuilding: Rebuilding = { doWork: folding(engines), parts: 1, keptMs: 0 },
  tell: TellQuarantine = () => undefined,
): Promise<Subscription> {
  const { eventStore, clock, emit } = engines
  const stopping = new AbortController()
  const projector: Projector = {
    ...engines,
    tell,
    rebuilding,
    signal: stopping.signal,
    serialized: serialize(),
    reached: null,
    fold: null,
    subscription: null,
    setAside: new Map(),
  }
  await begin(projector)
  const maintaining = maintain(projector)
  const tick = setInterval(() => publishPosition(projector), reportIntervalMs)
  publishPosition(projector)
  emit({ kind: 'projector', lag: () => lagBehind(eventStore, projector.reached, clock.now()) })
  return {
    async stop() {
      emit({ kind: 'projector', lag: null })
      clearInterval(tick)
      stopping.abort()
      await Promise.all([projector.subscription?.stop(), maintaining])
      // `maintain` may have subscribed again meanwhile.
      await projector.subscription?.stop()
      await projector.serialized(() => undefined)
    },
  }
}

function publishPosition(projector: Projector) {
  if (projector.reached !== null && projector.fold !== null)
    projector.bus.publish('projected', { projection: mainProjection, position: projector.reached })
}

async function projectBatch(
  projector: Projector,
  events: readonly LogRecord[],
  upTo: Position,
): Promise<void> {
  const begun = now()
  if (projector.fold === null) throw new Error('No read model is live.')
  const position = events.at(-1)?.position === upTo ? upTo : await withinLog(projector, upTo)
  if (position === null) return
  await projector.fold.fold(events, { projection: mainProjection, position })
  projector.reached = position
  projector.emit({ kind: 'projected', events: intact(events), begun, ended: now() })
  publishPosition(projector)
}

/**
 * The position, or the head of the log if the position is beyond the head. In an event store that we share with other products, the subscription may
 * have passed events of theirs after our last event. A checkpoint beyond the head would mean that the log was replaced by an older copy.
 */
async function withinLog(projector: Projector, position: Position): Promise<Position | null> {
  return earliest([position, await projector.eventStore.head()])
}

/** Subscribes to the log after the position of the live read models, and folds events into the live read models from now on. */
async function follow(projector: Projector, catalog: Catalog): Promise<void> {
  const live = liveViews(catalog)
  await projector.readStore.prepare([...auxiliaryCollections, ...live.map(collectionOf)])
  projector.fold =
    live.length === 0
      ? null
      : await openFold(live, { store: projector.readStore, log: projector.log, logger: projector.logger })
  if (projector.fold !== null)
    projector.subscription ??= projector.eventStore.subscribe(
      projector.reached,
      batch,
      (events, upTo) => projector.serialized(() => projectBatch(projector, events, upTo)),
      projectedEvents,
    )
}

/** Rebuilds views and makes them live. Returns `false` when another process has begun a build meanwhile: that build replaces this one. */
async function rebuild(projector: Projector, wanted: Views): Promise<boolean> {
  const head = await projector.eventStore.head()
  const progress: Progress[] = Array.from({ length: projector.rebuilding.parts }, () => ({
    events: 0,
    position: null,
  }))
  const changed = await changeCatalog(projector.readStore, (catalog) =>
    generations.building(catalog, {
      generations: generations.nextGenerations(catalog, wanted),
      begunAt: projector.clock.now().toISOString(),
      events: 0,
      position: null,
      head,
    }),
  )
  const made = changed.building?.generations ?? {}
  const placedViews = wanted.flatMap((view) => {
    const generation = made[view.collection]
    return generation === undefined ? [] : [placed(view, generation.name)]
  })
  const collections = placedViews.map(({ collection }) => collection)
  projector.logger.info({ collections }, 'rebuilding read models')
  await projector.readStore.prepare([...auxiliaryCollections, ...placedViews.map(collectionOf)])
  const names = Object.fromEntries(Object.entries(made).map(([collection, { name }]) => [collection, name]))
  const telling = setInterval(() => void reportProgress(projector, made, progress), reportIntervalMs)
  let whole: readonly (Position | null)[]
  try {
    whole = await Promise.all(
      progress.map((_, index) =>
        projector.rebuilding.doWork(
          { kind: 'fold', part: { names, index, of: projector.rebuilding.parts } },
          (told) => (progress[index] = told),
          projector.signal,
        ),
      ),
    )
  } finally {
    clearInterval(telling)
  }
  await reportProgress(projector, made, progress)
  return projector.serialized(() => putInPlace(projector, placedViews, made, earliest(whole)))
}

async function reportProgress(
  projector: Projector,
  made: Build['generations'],
  progress: readonly Progress[],
): Promise<void> {
  const events = progress.reduce((sum, part) => sum + part.events, 0)
  const position = earliest(progress.map((part) => part.position))
  await changeCatalog(projector.readStore, (catalog) =>
    generations.isBuilding(catalog, made) && catalog.building !== null
      ? { ...catalog, building: { ...catalog.building, events, position } }
      : undefined,
  ).catch((fault: unknown) => {
    projector.logger.warn({ err: fault }, 'failed to report the progress of the rebuild')
  })
}

/** Folds the events that the rebuilt read models still lack, and makes the read models live. Runs between two batches. */
async function putInPlace(
  projector: Projector,
  made: Views,
  makes: Build['generations'],
  from: Position | null,
): Promise<boolean> {
  const foldMade = await openFold(made, {
    store: projector.readStore,
    log: projector.log,
    logger: projector.logger,
  })
  const wanted = wantedBy(made)
  for (let after = from; ;) {
    const events = await projector.eventStore.readAll(after, batch, wanted)
    await foldMade.fold(events, null)
    after = events.at(-1)?.position ?? after
    if (events.length === batch) continue
    // If no read models are live, the projector's position becomes the position of the rebuilt read models.
    if (projector.fold === null) projector.reached = later(from, after)
    break
  }
  if (projector.fold === null && projector.reached !== null)
    await projector.readStore.apply([], { projection: mainProjection, position: projector.reached })
  const { fold } = projector
  // If this fails halfway, the replaced read models must not be folded on: `maintain` begins again with those that are live.
  projector.fold = null
  const catalog = await changeCatalog(projector.readStore, (found) => generations.swapped(found, makes))
  const isDone = Object.entries(makes).every(([name, { name: as }]) => catalog.live[name]?.name === as)
  if (!isDone) projector.fold = fold
  else {
    await follow(projector, catalog)
    publishPosition(projector)
    projector.logger.info(
      { collections: made.map(({ collection }) => collection) },
      'read models were replaced',
    )
  }
  return isDone
}

/** Drops generations that nobody reads. Waits first until calls that may still read them have ended. */
async function tidy(projector: Projector, keptMs: number): Promise<void> {
  await pause(keptMs, undefined, { signal: projector.signal })
  await projector.readStore.removeAsides()
  const collections = generations.unused(
    await projector.readStore.catalog(),
    await projector.readStore.generations(),
  )
  if (collections.length === 0) return
  await projector.rebuilding.doWork({ kind: 'drop', collections }, () => {}, projector.signal)
  await projector.readStore.scrub()
}

/** Starts from the stored state. Throws when a newer version has built a read model. */
async function begin(projector: Projector): Promise<void> {
  const [checkpoint, found] = await Promise.all([
    projector.readStore.checkpoint(mainProjection),
    projector.readStore.catalog(),
  ])
  const [ahead] = generations.newer(found, views)
  if (ahead)
    throw new Error(
      `A newer Flightdeck folds the read model of ${ahead.collection}: this one leaves it alone. ` +
        `To go back to this version, ask for it with: npm start -- rebuild ${ahead.collection}`,
    )
  const foreign = generations.isForeign(found, projector.logIdentity, await isBeyond(projector, checkpoint))
  if (foreign)
    projector.logger.warn(
      { checkpoint, of: found.log, log: projector.logIdentity },
      'the read models belong to another log or are ahead of this one: rebuilding them',
    )
  // The quarantine lists streams of the other log. The rebuild will find the unreadable streams of this log.
  if (foreign) await clearQuarantine(projector.readStore)
  await releaseSkipped(projector.readStore)
  const catalog = await changeCatalog(projector.readStore, (now) =>
    generations.begun(now, projector.logIdentity, foreign),
  )
  const hasLive = Object.keys(catalog.live).length > 0
  // Without live read models, the old checkpoint means nothing. Readers are refused until read models are live.
  if (!hasLive) await projector.readStore.forget(mainProjection)
  projector.reached = hasLive ? checkpoint : null
  const wanted = generations.missing(catalog, views)
  const [first] = await projector.eventStore.readAll(null, 1, projectedEvents)
  if (wanted.length > 0 && first === undefined) await makeAtOnce(projector, wanted)
  else await follow(projector, catalog)
}

/** Whether a position is beyond the end of the log, so that more events were folded than the log has now. */
async function isBeyond(projector: Projector, position: Position | null): Promise<boolean> {
  if (position === null) return false
  const head = await projector.eventStore.head()
  return head === null || comparePositions(position, head) > 0
}

/** Starts again, after the log was replaced by an older copy. */
async function beginAgain(projector: Projector): Promise<void> {
  await projector.subscription?.stop()
  projector.subscription = null
  projector.fold = null
  await begin(projector)
}

async function makeAtOnce(projector: Projector, wanted: Views): Promise<void> {
  const made = await changeCatalog(projector.readStore, (catalog) =>
    generations.madeAtOnce(catalog, generations.nextGenerations(catalog, wanted)),
  )
  await follow(projector, made)
}

/** Rebuilds missing and requested read models, and drops unused generations. Runs until the projector is stopped. */
async function maintain(projector: Projector): Promise<void> {
  let pauseMs = firstPauseMs
  let isTidy = false
  let lookedAt = now()
  while (!projector.signal.aborted) {
    try {
      if (now() - lookedAt > pollIntervalMs) {
        lookedAt = now()
        if (await isBeyond(projector, projector.reached)) await beginAgain(projector)
      }
      const catalog = await projector.readStore.catalog()
      if (projector.fold === null && Object.keys(catalog.live).length > 0) await beginAgain(projector)
      const wanted = generations.missing(catalog, views)
      if (wanted.length > 0) {
        if (!(await rebuild(projector, wanted)))
          throw new Error('Another process rebuilds the same read models.')
        isTidy = false
        await forgetReleased(projector)
      }
      await noteSetAside(projector)
      if (!isTidy) await tidy(projector, wanted.length > 0 ? projector.rebuilding.keptMs : 0)
      isTidy = true
      pauseMs = firstPauseMs
      await pause(reportIntervalMs, undefined, { signal: projector.signal })
    } catch (fault) {
      if (projector.signal.aborted) return
      projector.logger.error({ err: fault }, 'rebuilding read models failed and will be retried')
      // Without a fold, the live read models stand still.
      await pause(projector.fold === null ? firstPauseMs : pauseMs, undefined, {
        signal: projector.signal,
      }).catch(() => {})
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
  }
}

/** Marks the documents of all streams in quarantine, also of streams that another process put there, and tells viewers and the operator. */
async function noteSetAside(projector: Projector): Promise<void> {
  const { readStore, bus, setAside, tell } = projector
  const before = setAside.size
  for await (const quarantined of allQuarantined(readStore)) {
    if (setAside.get(quarantined.id) === quarantined.revision) continue
    const { fold, reached } = projector
    if (fold === null || reached === null) return
    await projector.serialized(() => fold.setAside(quarantined, projector.reached ?? reached))
    setAside.set(quarantined.id, quarantined.revision)
    bus.publish('quarantine', { stream: quarantined.id })
  }
  if (setAside.size !== before) tellSetAside(tell, setAside.size)
}

function tellSetAside(tell: TellQuarantine, count: number): void {
  const what = count === 1 ? 'A damaged stream is' : `${count} damaged streams are`
  tell(count === 0 ? [] : [`${what} set aside. Run: npm start -- quarantine list`])
}

/**
 * After a rebuild, tells viewers which streams are no longer in quarantine. Forgets the streams that still are, so that their documents are marked
 * again.
 */
async function forgetReleased({ readStore, bus, setAside, tell }: Projector): Promise<void> {
  const listed = new Set<string>()
  for await (const { id } of allQuarantined(readStore)) listed.add(id)
  const released = [...setAside.keys()].filter((stream) => !listed.has(stream))
  setAside.clear()
  if (listed.size === 0) tellSetAside(tell, 0)
  for (const stream of released) bus.publish('quarantine', { stream })
}

/** The views that can be read, each with its live generation as its collection. */
function liveViews({ live }: Catalog): Views {
  return views.flatMap((view) => {
    const generation = live[view.collection]
    const { version, readsFrom = version } = view
    const isOurs =
      generation !== undefined && generation.version >= readsFrom && generation.version <= version
    return isOurs ? [placed(view, generation.name)] : []
  })
}

function collectionOf({ collection, indexes }: View<ViewDocument>): Collection {
  return { name: collection, indexes }
}

/** The earliest of the positions. `null` is the beginning of the log, before all other positions. */
function earliest(positions: readonly (Position | null)[]): Position | null {
  return positions.reduce((first, position) =>
    first === null || position === null ? null : comparePositions(position, first) < 0 ? position : first,
  )
}

function later(one: Position | null, other: Position | null): Position | null {
  if (one === null || other === null) return one ?? other
  return comparePositions(one, other) < 0 ? other : one
}
