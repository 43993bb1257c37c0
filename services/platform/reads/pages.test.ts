import { expect, test } from 'vitest'
import { projectsView } from '#domain/views/projects.ts'
import type { Find } from '../ports/readStore.ts'
import { pagesOf } from './pages.ts'

const ids = ['a', 'b', 'c', 'd']
/** A read store of documents that are in the order of their ids. */
function stored() {
  const queries: Find[] = []
  const documents: Parameters<typeof pagesOf>[0] = {
    async find(_view, query) {
      queries.push(query)
      const isDescending = query.sort.direction === 'descending'
      const inOrder = isDescending ? ids.toReversed() : ids
      const from = query.after === undefined ? 0 : inOrder.indexOf(query.after.id) + 1
      return inOrder.slice(from, from + query.limit).map((id) => JSON.parse(`{"id":"${id}","order":"${id}"}`))
    },
  }
  return { queries, documents }
}
async function read(query: Parameters<typeof pagesOf>[2]) {
  const { documents, queries } = stored()
  const pages: string[][] = []
  for await (const page of pagesOf(documents, projectsView, query)) pages.push(page.map(({ id }) => id))
  return { pages, queries: queries.length }
}

test.each([
  ['a page that is not full is the last', { limit: 3 }, [['a', 'b', 'c'], ['d']], 2],
  ['a full one may be followed by none', { limit: 2 }, [['a', 'b'], ['c', 'd'], []], 3],
  ['begins behind a place', { limit: 3, after: { value: 'b', id: 'b' } }, [['c', 'd']], 1],
  ['or at the end', { limit: 4, direction: 'descending' as const }, [['d', 'c', 'b', 'a'], []], 2],
])('%s', async (_, query, pages, queries) => {
  expect(await read({ where: {}, ...query })).toEqual({ pages, queries })
})
