/**
 * Pure functions that compute changes of the catalog. A generation is one stored copy of a read model. The catalog says which generation of each read
 * model may be read, and which is being built.
 */
import type { LogIdentity } from '#domain/log.ts'
import type { View, ViewDocument } from '#domain/views/view.ts'
import { generationName, type Build, type Catalog, type Generation } from '#platform/ports/readStore.ts'

type Views = readonly View<ViewDocument>[]
/** A catalog after a change, without its new revision. */
type Changed = Omit<Catalog, 'revision'>

/** Whether the read models were folded from another log. `isBeyond` says that they were folded from more events than the log has. */
export function isForeign({ log }: Catalog, identity: LogIdentity, isBeyond: boolean): boolean {
  return isBeyond || (log !== null && (log.logId !== identity.logId || log.epoch !== identity.epoch))
}

/** The catalog at the start of a projector: without an unfinished build and, if the catalog is `foreign`, without live generations. */
export function begun(catalog: Catalog, identity: LogIdentity, foreign: boolean): Changed {
  return { ...catalog, log: identity, building: null, ...(foreign && { live: {} }) }
}

/** The views that must be built: new and changed views, and views for which an operator requested a rebuild. */
export function missing({ live, wanted }: Pick<Catalog, 'live' | 'wanted'>, views: Views): Views {
  return views.filter(({ collection, version }) => {
    const generation = live[collection]
    return generation === undefined || generation.version < version || wanted.includes(collection)
  })
}

/** The views that a newer version of the server has built, so that this version must not fold them unless an operator requested a rebuild. */
export function newer({ live, wanted }: Pick<Catalog, 'live' | 'wanted'>, views: Views): Views {
  return views.filter(
    ({ collection, version }) =>
      (live[collection]?.version ?? version) > version && !wanted.includes(collection),
  )
}

/** A name and version for the next generation of each view. */
export function nextGenerations({ last }: Pick<Catalog, 'last'>, views: Views): Build['generations'] {
  return Object.fromEntries(
    views.map(({ collection, version }): [string, Generation] => [
      collection,
      { name: generationName(collection, last + 1), version },
    ]),
  )
}

/** The catalog with new generations live at once, for a log without events to fold. */
export function madeAtOnce(catalog: Catalog, generations: Build['generations']): Changed {
  return withLive({ ...catalog, last: catalog.last + 1 }, generations)
}

export function building(catalog: Catalog, build: Build): Changed {
  return { ...catalog, last: catalog.last + 1, building: build }
}

/** The catalog with the built generations live; `undefined` when another process has begun a build since. */
export function swapped(catalog: Catalog, generations: Build['generations']): Changed | undefined {
  if (!isBuilding(catalog, generations)) return undefined
  return withLive({ ...catalog, building: null }, generations)
}

export function isBuilding({ building: build }: Catalog, generations: Build['generations']): boolean {
  return Object.entries(generations).every(
    ([collection, { name }]) => build?.generations[collection]?.name === name,
  )
}

/** The names of stored generations that nobody reads or builds. */
export function unused({ live, building: build }: Catalog, stored: readonly string[]): readonly string[] {
  const used = [...Object.values(live), ...Object.values(build?.generations ?? {})].map(({ name }) => name)
  return stored.filter((name) => !used.includes(name))
}

function withLive(catalog: Catalog, generations: Build['generations']): Changed {
  return {
    ...catalog,
    live: { ...catalog.live, ...generations },
    wanted: catalog.wanted.filter((collection) => !(collection in generations)),
  }
}
