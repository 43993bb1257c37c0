/** Reads all documents of a view, a page at a time. */
import type { View, ViewDocument } from '#domain/views/view.ts'
import type { Find } from '../ports/readStore.ts'
import type { Documents } from './documents.ts'

/** The documents in their order, from behind `after`. One that changes its place meanwhile may come twice, or not at all. */
export async function* pagesOf<D extends ViewDocument & { readonly order: string }>(
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
