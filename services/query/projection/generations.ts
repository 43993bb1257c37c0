/** Changes of the catalog, which says for each read model which stored copy (generation) may be read, and which is being built. Has no side effects. */
import type { LogIdentity } from '#domain/log.ts'
import type { View, ViewDocument } from '#domain/views/view.ts'
import { generationName, type Build, type Catalog, type Generation } from '#platform/ports/readStore.ts'

type Views = readonly View<ViewDocument>[]
/** A catalog after a change, without its new revision. */
type Changed = Omit<Catalog, 'revision'>

/** Whether the read models were folded from another log, or from later events than this log has. */
export function isForeign({ log }: Catalog, identity: LogIdentity, isBeyond: boolean): boolean {
  return isBeyond || (log !== null && (log.logId !== identity.logId || log.epoch !== identity.epoch))
}

/** The catalog at the start of a projector, without generations of another log and without an unfinished build. */
export function begun(catalog: Catalog, identity: LogIdentity, foreign: boolean): Changed {
  return { ...catalog, log: identity, building: null, ...(foreign && { live: {} }) }
}

/** The views that have to be built: new ones, changed ones, and those that an operator requested. */
export function missing({ live, wanted }: Pick<Catalog, 'live' | 'wanted'>, views: Views): Views {
  return views.filter(({ collection, version }) => {
    const generation = live[collection]
    return generation === undefined || generation.version < version || wanted.includes(collection)
  })
}

/** Views that were built by a newer version, and that this version must not fold. */
export function newer({ live, wanted }: Pick<Catalog, 'live' | 'wanted'>, views: Views): Views {
  return views.filter(
    ({ collection, version }) =>
      (live[collection]?.version ?? version) > version && !wanted.includes(collection),
  )
}

/** The next generation of each of the views. */
export function nextGenerations({ last }: Pick<Catalog, 'last'>, views: Views): Build['generations'] {
  return Object.fromEntries(
    views.map(({ collection, version }): [string, Generation] => [
      collection,
      { name: generationName(collection, last + 1), version },
    ]),
  )
}

/** Makes new generations live at once, when there are no events to fold into them. */
export function madeAtOnce(catalog: Catalog, generations: Build['generations']): Changed {
  return withLive({ ...catalog, last: catalog.last + 1 }, generations)
}

export function building(catalog: Catalog, build: Build): Changed {
  return { ...catalog, last: catalog.last + 1, building: build }
}

/** Makes the built generations live; `undefined` when another process is building by now. */
export function swapped(catalog: Catalog, generations: Build['generations']): Changed | undefined {
  if (!isBuilding(catalog, generations)) return undefined
  return withLive({ ...catalog, building: null }, generations)
}

export function isBuilding({ building: build }: Catalog, generations: Build['generations']): boolean {
  return Object.entries(generations).every(
    ([collection, { name }]) => build?.generations[collection]?.name === name,
  )
}

/** Stored generations that nobody reads or builds. */
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
