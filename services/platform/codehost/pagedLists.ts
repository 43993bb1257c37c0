/** Reads paged lists of the code host. */
import { z } from 'zod'
import { ask } from './request.ts'

const perPage = 100
/** The most pages of a list that are read: 1,000 items. */
const maxPages = 10

const Headers = z.object({ headers: z.object({ link: z.string() }) })

/**
 * Reads the last ten pages of a list that is sorted oldest first; `cut` is true when there are earlier pages. If the code host does not say which
 * page is the last, reads from the first page on.
 */
export async function lastPages<Item>(
  schema: z.ZodType<Item>,
  list: (page: { page: number; per_page: number }) => Promise<{ readonly data: unknown }>,
): Promise<{ readonly items: readonly Item[]; readonly cut: boolean }> {
  let last: number | undefined
  const first = await ask(z.array(schema), async () => {
    const answer = await list({ page: 1, per_page: perPage })
    last = lastPageOf(answer)
    return answer
  })
  if (first.length < perPage) return { items: first, cut: false }
  if (last === undefined) {
    const rest = await pages(schema, list, { from: 2 })
    return { items: [...first, ...rest.items], cut: rest.cut }
  }
  const cut = last > maxPages
  const items = cut ? [] : [...first]
  for (let page = cut ? last - maxPages + 1 : 2; page <= last; page += 1)
    items.push(...(await ask(z.array(schema), () => list({ page, per_page: perPage }))))
  return { items, cut }
}

function lastPageOf(answer: unknown): number | undefined {
  const read = Headers.safeParse(answer)
  const [, page] =
    /[?&]page=(\d{1,6})[^>]*>; rel="last"/.exec(read.success ? read.data.headers.link : '') ?? []
  return page === undefined ? undefined : Number(page)
}

/** Reads the pages from `from` to `most`, or up to the first page that is not full. `cut` is true when there may be further pages. */
export async function pages<Item>(
  schema: z.ZodType<Item>,
  list: (page: { page: number; per_page: number }) => Promise<{ readonly data: unknown }>,
  { from = 1, most = maxPages }: { readonly from?: number; readonly most?: number } = {},
): Promise<{ readonly items: readonly Item[]; readonly cut: boolean }> {
  const items: Item[] = []
  for (let page = from; page <= most; page += 1) {
    const found = await ask(z.array(schema), () => list({ page, per_page: perPage }))
    items.push(...found)
    if (found.length < perPage) return { items, cut: false }
  }
  return { items, cut: true }
}
