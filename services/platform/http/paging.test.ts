/** Pages by cursor: together they are the whole, each thing once. */
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { pageAfter } from './paging.ts'

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
      // The last page says that it is: nobody asks for an empty one.
      expect(pages).toBe(Math.max(1, Math.ceil(count / limit)))
    }),
    { numRuns: 40 },
  )
})
