/** The catalog of generations: its stored form, its updates, and the generation that a collection resolves to. */
import { NotFolded } from './faults.ts'
import { Catalog, emptyCatalog, type ReadStore, type Served } from './readStore.ts'

/** The name of a generation, such as `tasks_g3`. */
export const generationName = (collection: string, generation: number): string =>
  `${collection}_g${generation}`
export const isGeneration = (name: string): boolean => /_g[1-9]\d*$/.test(name)

export type StoredNames = (collection: string, catalog: Pick<Catalog, 'live'>) => string

/** Resolves a served collection to its live generation, and other names to themselves. Throws `NotFolded` when no generation can be read. */
export function storedNames(served: readonly Served[]): StoredNames {
  const readsFrom = new Map(served.map((one) => [one.collection, one.readsFrom]))
  return (collection, { live }) => {
    const oldest = readsFrom.get(collection)
    if (oldest === undefined) return collection
    const generation = live[collection]
    if (generation === undefined || generation.version < oldest) throw new NotFolded(collection)
    return generation.name
  }
}

const maxAttempts = 20

/** Changes the catalog, and retries when another writer was faster; `undefined` from `change` leaves it as it is. Returns the resulting catalog. */
export async function changeCatalog(
  store: Pick<ReadStore, 'catalog' | 'replaceCatalog'>,
  change: (catalog: Catalog) => Omit<Catalog, 'revision'> | undefined,
): Promise<Catalog> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const catalog = await store.catalog()
    const changed = change(catalog)
    if (changed === undefined) return catalog
    const next = { ...changed, revision: catalog.revision + 1 }
    if (await store.replaceCatalog(next)) return next
  }
  throw new Error('The catalog of the read models changes all the time.')
}

export function catalogIn(text: string | undefined): Catalog {
  return text === undefined ? emptyCatalog : Catalog.parse(JSON.parse(text))
}
