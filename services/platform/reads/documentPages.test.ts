import { expect, test, afterAll, beforeAll } from 'vitest'
import { projectsView } from '#domain/views/projects.ts'
import type { Find } from '../ports/readStore.ts'
import { pagesOf, pageAfter } from './documentPages.ts'
import * as fc from 'fast-check'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'

const ids = ['a', 'b', 'c', 'd']
/** A read store with documents in the order of their ids. */
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

let engines: TestEngines
beforeAll(async () => {
  engines = await openTestEngines()
})
afterAll(() => engines.close())

test('whatever the size of a page, the pages are the whole, newest first', async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.nat(25), fc.integer({ min: 1, max: 7 }), async (count, limit) => {
      run += 1
      const owner = `owner-${run}`
      const changes = Array.from({ length: count }, (_, n) => {
        const order = String(n * 3).padStart(20, '0')
        return {
          kind: 'put' as const,
          collection: 'tasks',
          document: { id: `${owner}-${n}`, owner, order },
          position: String(run * 1_000 + n),
        }
      })
      await engines.readStore.apply(changes, { projection: 'test', position: String(run) })

      const find = async (page: Parameters<Parameters<typeof pageAfter>[1]>[0]) =>
        (await engines.readStore.find('tasks', { where: { owner }, ...page })).map(({ id, order }) => ({
          id,
          order: String(order),
        }))
      const seen: string[] = []
      let pages = 0
      let after: string | undefined
      do {
        const { shown, next } = await pageAfter({ limit, after }, find)
        expect(shown.length).toBeLessThanOrEqual(limit)
        seen.push(...shown.map(({ id }) => id))
        pages += 1
        after = next ?? undefined
      } while (after !== undefined)
      expect(seen).toEqual(Array.from({ length: count }, (_, n) => `${owner}-${count - 1 - n}`))
      // The last page has no cursor, so no empty page is requested after it.
      expect(pages).toBe(Math.max(1, Math.ceil(count / limit)))
    }),
    { numRuns: 40 },
  )
})
