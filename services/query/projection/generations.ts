/** Changes of the catalog: which generations may be read, and which are to be made. Pure. */
import type { LogIdentity } from '#domain/log.ts'
import type { View, ViewDocument } from '#domain/views/view.ts'
import { generationName, type Build, type Catalog, type Generation } from '#platform/ports/readStore.ts'

type Views = readonly View<ViewDocument>[]
/** A catalog after a change, without its revision. */
type Changed = Omit<Catalog, 'revision'>

/** Whether what is there was folded from another log, or from more of this one than there is. */
export function isForeign({ log }: Catalog, identity: LogIdentity, isBeyond: boolean): boolean {
  return isBeyond || (log !== null && (log.logId !== identity.logId || log.epoch !== identity.epoch))
}

/** The catalog at the start of a projector: without generations of another log, and without an unfinished build. */
export function begun(catalog: Catalog, identity: LogIdentity, foreign: boolean): Changed {
  return { ...catalog, log: identity, building: null, ...(foreign && { live: {} }) }
}

/** The views that have to be made: new ones, changed ones, and those that an operator wants. */
export function missing({ live, wanted }: Pick<Catalog, 'live' | 'wanted'>, views: Views): Views {
  return views.filter(({ collection, version }) => {
    const generation = live[collection]
    return generation === undefined || generation.version < version || wanted.includes(collection)
  })
}

/** Views whose documents a newer version folds: this one must not. */
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

/** Makes generations live at once, when there is nothing to fold into them. */
export function madeAtOnce(catalog: Catalog, generations: Build['generations']): Changed {
  return withLive({ ...catalog, last: catalog.last + 1 }, generations)
}

export function building(catalog: Catalog, build: Build): Changed {
  return { ...catalog, last: catalog.last + 1, building: build }
}

/** The one that is being made is live from here on; `undefined` when somebody else makes another. */
export function swapped(catalog: Catalog, generations: Build['generations']): Changed | undefined {
  if (!isBuilding(catalog, generations)) return undefined
  return withLive({ ...catalog, building: null }, generations)
}

export function isBuilding({ building: build }: Catalog, generations: Build['generations']): boolean {
  return Object.entries(generations).every(
    ([collection, { name }]) => build?.generations[collection]?.name === name,
  )
}

/** Generations that nobody reads or makes. */
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
