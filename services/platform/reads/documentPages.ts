/** Reads documents of a view in the view's order: the first or the last of them, or all, a page at a time. */
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

/** Reads at most `limit` documents from the end of the view's order, the last one first. */
export const newest = inOrder('descending')
/** Reads at most `limit` documents from the beginning of the view's order. */
export const oldest = inOrder('ascending')

/** Reads the documents in the given direction, after the place `after`. A document whose place changes meanwhile may come twice or not at all. */
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

/** Reads a page, newest first. `next` is the cursor of the following page, `null` at the end. */
export async function pageAfter<D extends { readonly order: string }>(
  query: { readonly limit: number; readonly after?: string | undefined },
  find: (page: Page) => Promise<readonly D[]>,
): Promise<{ readonly shown: readonly D[]; readonly next: string | null }> {
  const sort = { field: 'order', direction: 'descending' } as const
  const limit = query.limit + 1
  // `order` is unique, so no id is needed to break ties.
  const found = await find(
    query.after === undefined ? { sort, limit } : { sort, limit, after: { value: query.after, id: '' } },
  )
  const shown = found.slice(0, query.limit)
  return { shown, next: found.length > query.limit ? (shown.at(-1)?.order ?? null) : null }
}
