/** Pages by cursor, over documents that are sorted by `order`. */
import type { Find } from '#platform/ports/readStore.ts'

type Page = Pick<Find, 'sort' | 'limit' | 'after'>

/** Newest first. `next` is the cursor of the following page, `null` at the end. */
export async function pageAfter<D extends { readonly order: string }>(
  query: { readonly limit: number; readonly after?: string | undefined },
  find: (page: Page) => Promise<readonly D[]>,
): Promise<{ readonly shown: readonly D[]; readonly next: string | null }> {
  const sort = { field: 'order', direction: 'descending' } as const
  const limit = query.limit + 1
  // `order` is unique, so the tie-breaking id can be the lowest possible.
  const found = await find(
    query.after === undefined ? { sort, limit } : { sort, limit, after: { value: query.after, id: '' } },
  )
  const shown = found.slice(0, query.limit)
  return { shown, next: found.length > query.limit ? (shown.at(-1)?.order ?? null) : null }
}
