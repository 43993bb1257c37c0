/** Reads documents of a view in their order: the first or the last of them, or all of them in pages. */
import type { View, ViewDocument } from '#domain/views/view.ts'
import type { Find } from '../ports/readStore.ts'
import type { Documents } from './documents.ts'

type Ordered = ViewDocument & { readonly order: string }
const inOrder =
  (direction: Find['sort']['direction']) =>
  <D extends Ordered>(
    documents: Pick<Documents, 'find'>,
    view: View<D>,
    where: Find['where'],
    limit: number,
  ): Promise<readonly D[]> =>
    documents.find(view, { where, sort: { field: 'order', direction }, limit })

/** The last in the order of the view, the last first; `limit` at most. */
export const newest = inOrder('descending')
/** The first in the order of the view; `limit` at most. */
export const oldest = inOrder('ascending')

/** The documents in their order, after the place `after`. A document that changes its place meanwhile may occur twice, or not at all. */
export async function* pagesOf<D extends Ordered>(
  documents: Pick<Documents, 'find'>,
  view: View<D>,
  query: Pick<Find, 'where' | 'limit'> & {
    readonly after?: Find['after'] | undefined
    readonly direction?: Find['sort']['direction']
  },
): AsyncGenerator<readonly D[]> {
  const { where, limit, direction = 'ascending' } = query
  const sort = { field: 'order', direction } as const
  for (let { after } = query; ;) {
    const found = await documents.find(view, { where, sort, limit, ...(after && { after }) })
    yield found
    const last = found.at(-1)
    if (!last || found.length < limit) return
    after = { value: last.order, id: last.id }
  }
}

type Page = Pick<Find, 'sort' | 'limit' | 'after'>

/** Newest first. `next` is the cursor of the following page, `null` at the end. */
export async function pageAfter<D extends { readonly order: string }>(
  query: { readonly limit: number; readonly after?: string | undefined },
  find: (page: Page) => Promise<readonly D[]>,
): Promise<{ readonly shown: readonly D[]; readonly next: string | null }> {
  const sort = { field: 'order', direction: 'descending' } as const
  const limit = query.limit + 1
  // `order` is unique, so the id that breaks ties can be the lowest possible.
  const found = await find(
    query.after === undefined ? { sort, limit } : { sort, limit, after: { value: query.after, id: '' } },
  )
  const shown = found.slice(0, query.limit)
  return { shown, next: found.length > query.limit ? (shown.at(-1)?.order ?? null) : null }
}
