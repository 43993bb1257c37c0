/**
 * The projector: folds the log into the read models, batch by batch, and sees to it that they are of this log and of the versions that
 * this program folds. What is not is made anew beside what is read, and put in its place once it has caught up.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { comparePositions, type Position, type StoredEvent } from '#domain/kernel/event.ts'
import type { LogIdentity } from '#domain/log.ts'
import { views } from '#domain/views/all.ts'
import type { View, ViewDocument } from '#domain/views/view.ts'
import { projectedEvents, wantedBy } from '#platform/reads/documents.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import { clearQuarantine } from '#platform/eventlog/quarantine.ts'
import { mainProjection } from '#platform/reads/projected.ts'
import type { Logger } from '#platform/log.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { EventStore, Subscription } from '#platform/ports/eventStore.ts'
import type { Build, Catalog, Collection, ReadStore } from '#platform/ports/readStore.ts'
import { changeCatalog } from '#platform/ports/catalog.ts'
import { lagBehind } from '#platform/telemetry/lag.ts'
import { now, type Emit } from '#platform/telemetry/telemetry.ts'
import { besides, openFold, placed, type Fold } from './fold.ts'
import * as generations from './generations.ts'
import { folding, type DoWork, type Progress } from './rebuild.ts'

export interface ProjectorEngines {
  readonly eventStore: EventStore
  readonly readStore: ReadStore
  readonly bus: Bus
  readonly log: EventLog
  readonly logIdentity: LogIdentity
  readonly logger: Logger
  readonly clock: Clock
  readonly emit: Emit
}

/** How read models are made anew: by whom, in how many parts at once, and how long what they replace is kept for calls under way. */
export interface Rebuilding {
  readonly doWork: DoWork
  readonly parts: number
  readonly keptMs: number
}

type Views = readonly View<ViewDocument>[]

const batch = 500
const tellEveryMs = 1_000
const lookEveryMs = 5_000
const firstPauseMs = 500
const longestPauseMs = 30_000

/** Starts at the checkpoint and never ends by itself. After each batch, and each second, it says how far it is. */
export async function startProjector(
  engines: ProjectorEngines,
  rebuilding: Rebuilding = { doWork: folding(engines), parts: 1, keptMs: 0 },
): Promise<Subscription> {
  const { eventStore, readStore, bus, log, logger, clock, emit } = engines
  const stopping = new AbortController()
  const { signal } = stopping
  let reached: Position | null = null
  let fold: Fold | null = null
  let subscription: Subscription | null = null
  /** Batches and the putting in place of what was made anew go one after the other. */
  let turn: Promise<unknown> = Promise.resolve()

  function serialized<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }

  const say = () => {
    if (reached !== null && fold !== null)
      bus.publish('projected', { projection: mainProjection, position: reached })
  }

  async function projectBatch(events: readonly StoredEvent[], position: Position): Promise<void> {
    const begun = now()
    if (fold === null) throw new Error('There is nothing to fold into.')
    await fold(events, { projection: mainProjection, position })
    reached = position
    emit({ kind: 'projected', events, begun, ended: now() })
    say()
  }

  /** Folds what is live from here on, and goes on with the log where that ends. */
  async function follow(catalog: Catalog): Promise<void> {
    const live = liveViews(catalog)
    await readStore.prepare([...besides, ...live.map(collectionOf)])
    fold = live.length === 0 ? null : await openFold(live, { store: readStore, log, logger })
    if (fold !== null)
      subscription ??= eventStore.subscribe(
        reached,
        batch,
        (events, upTo) => serialized(() => projectBatch(events, upTo)),
        projectedEvents,
      )
  }

  /** Makes the views anew and puts them in place; false when somebody else makes them as well. */
  async function rebuild(wanted: Views): Promise<boolean> {
    const head = await eventStore.head()
    const progress: Progress[] = Array.from({ length: rebuilding.parts }, () => ({
      events: 0,
      position: null,
    }))
    const changed = await changeCatalog(readStore, (catalog) =>
      generations.building(catalog, {
        generations: generations.nextGenerations(catalog, wanted),
        begunAt: clock.now().toISOString(),
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
    logger.info({ collections }, 'rebuilding read models')
    await readStore.prepare([...besides, ...placedViews.map(collectionOf)])
    const names = Object.fromEntries(Object.entries(made).map(([collection, { name }]) => [collection, name]))
    const telling = setInterval(() => void tell(made, progress), tellEveryMs)
    let whole: readonly (Position | null)[]
    try {
      whole = await Promise.all(
        progress.map((_, index) =>
          rebuilding.doWork(
            { kind: 'fold', part: { names, index, of: rebuilding.parts } },
            (told) => (progress[index] = told),
            signal,
          ),
        ),
      )
    } finally {
      clearInterval(telling)
    }
    await tell(made, progress)
    return serialized(() => putInPlace(placedViews, made, earliest(whole)))
  }

  async function tell(made: Build['generations'], progress: readonly Progress[]): Promise<void> {
    const events = progress.reduce((sum, part) => sum + part.events, 0)
    const position = earliest(progress.map((part) => part.position))
    await changeCatalog(readStore, (catalog) =>
      generations.isBuilding(catalog, made) && catalog.building !== null
        ? { ...catalog, building: { ...catalog.building, events, position } }
        : undefined,
    ).catch((fault: unknown) => {
      logger.warn({ err: fault }, 'failed to report the progress of the rebuild')
    })
  }

  /** Between two batches: folds what is missing to where the live ones are, and makes them live. */
  async function putInPlace(
    made: Views,
    makes: Build['generations'],
    from: Position | null,
  ): Promise<boolean> {
    const foldMade = await openFold(made, { store: readStore, log, logger })
    const wanted = wantedBy(made)
    for (let after = from; ;) {
      const events = await eventStore.readAll(after, batch, wanted)
      await foldMade(events, null)
      after = events.at(-1)?.position ?? after
      if (events.length === batch) continue
      // Nothing is live: what is made now says how far the read models are.
      if (fold === null) reached = later(from, after)
      break
    }
    if (fold === null && reached !== null)
      await readStore.apply([], { projection: mainProjection, position: reached })
    const catalog = await changeCatalog(readStore, (found) => generations.swapped(found, makes))
    const isDone = Object.entries(makes).every(([name, { name: as }]) => catalog.live[name]?.name === as)
    if (isDone) {
      await follow(catalog)
      say()
      logger.info({ collections: made.map(({ collection }) => collection) }, 'read models were replaced')
    }
    return isDone
  }

  /** Takes away what nobody reads any more, once no call can be under way on it. */
  async function tidy(keptMs: number): Promise<void> {
    await pause(keptMs, undefined, { signal })
    await readStore.removeAsides()
    const collections = generations.unused(await readStore.catalog(), await readStore.generations())
    if (collections.length === 0) return
    await rebuilding.doWork({ kind: 'drop', collections }, () => {}, signal)
    await readStore.scrub()
  }

  /** Begins with what is stored: throws where a newer version folds it. */
  async function begin(): Promise<void> {
    const [checkpoint, found] = await Promise.all([readStore.checkpoint(mainProjection), readStore.catalog()])
    const [ahead] = generations.newer(found, views)
    if (ahead)
      throw new Error(
        `A newer Flightdeck folds the read model of ${ahead.collection}: this one leaves it alone. ` +
          `To go back to this version, ask for it with: npm start -- rebuild ${ahead.collection}`,
      )
    const foreign = generations.isForeign(found, engines.logIdentity, await isBeyond(checkpoint))
    if (foreign)
      logger.warn(
        { checkpoint, of: found.log, log: engines.logIdentity },
        'the read models belong to another log or are ahead of this one: rebuilding them',
      )
    // What was found wrong was wrong in the other log; in this one, whoever makes the read models looks again.
    if (foreign) await clearQuarantine(readStore)
    const catalog = await changeCatalog(readStore, (now) =>
      generations.begun(now, engines.logIdentity, foreign),
    )
    const hasLive = Object.keys(catalog.live).length > 0
    // Readers have been refused since the catalog says that nothing is live: no one takes the next checkpoint for this one.
    if (!hasLive) await readStore.forget(mainProjection)
    reached = hasLive ? checkpoint : null
    const wanted = generations.missing(catalog, views)
    const [first] = await eventStore.readAll(null, 1, projectedEvents)
    if (wanted.length > 0 && first === undefined) await makeAtOnce(wanted)
    else await follow(catalog)
  }

  /** Whether a place lies behind the end of the log: more was folded once than there is. */
  async function isBeyond(position: Position | null): Promise<boolean> {
    if (position === null) return false
    const head = await eventStore.head()
    return head === null || comparePositions(position, head) > 0
  }

  /** For a log that was exchanged for an older copy of itself meanwhile. */
  async function beginAgain(): Promise<void> {
    await subscription?.stop()
    subscription = null
    fold = null
    await begin()
  }

  async function makeAtOnce(wanted: Views): Promise<void> {
    const made = await changeCatalog(readStore, (catalog) =>
      generations.madeAtOnce(catalog, generations.nextGenerations(catalog, wanted)),
    )
    await follow(made)
  }

  /** Until it is stopped: makes what is missing or asked for, and tidies up. */
  async function keepWhole(): Promise<void> {
    let pauseMs = firstPauseMs
    let isTidy = false
    let lookedAt = now()
    while (!signal.aborted) {
      try {
        if (now() - lookedAt > lookEveryMs) {
          lookedAt = now()
          if (await isBeyond(reached)) await beginAgain()
        }
        const wanted = generations.missing(await readStore.catalog(), views)
        if (wanted.length > 0) {
          if (!(await rebuild(wanted))) throw new Error('Somebody else makes them too.')
          isTidy = false
        }
        if (!isTidy) await tidy(wanted.length > 0 ? rebuilding.keptMs : 0)
        isTidy = true
        pauseMs = firstPauseMs
        await pause(tellEveryMs, undefined, { signal })
      } catch (fault) {
        if (signal.aborted) return
        logger.error({ err: fault }, 'rebuilding read models failed and will be retried')
        await pause(pauseMs, undefined, { signal }).catch(() => {})
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
    }
  }

  await begin()
  const keeping = keepWhole()
  const tick = setInterval(say, tellEveryMs)
  say()
  emit({ kind: 'projector', lag: () => lagBehind(eventStore, reached, clock.now()) })
  return {
    async stop() {
      emit({ kind: 'projector', lag: null })
      clearInterval(tick)
      stopping.abort()
      await Promise.all([subscription?.stop(), keeping])
      await turn
    },
  }
}

/** The views that can be read, each where its documents are. */
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

/** The first of them; `null`, which is before all, where there is one. */
function earliest(positions: readonly (Position | null)[]): Position | null {
  return positions.reduce((first, position) =>
    first === null || position === null ? null : comparePositions(position, first) < 0 ? position : first,
  )
}

function later(one: Position | null, other: Position | null): Position | null {
  if (one === null || other === null) return one ?? other
  return comparePositions(one, other) < 0 ? other : one
}
