/** Lists of the code host, page by page. */
import { z } from 'zod'
import { ask } from './request.ts'

const perPage = 100
/** 1,000 of anything: more is not asked for. */
const mostPages = 10

/** Reads page after page, from the first where no other is named, until one is not full, or `most`, ten as a rule, were read: `cut` then. */
export async function pages<Item>(
  schema: z.ZodType<Item>,
  list: (page: { page: number; per_page: number }) => Promise<{ readonly data: unknown }>,
  { from = 1, most = mostPages }: { readonly from?: number; readonly most?: number } = {},
): Promise<{ readonly items: readonly Item[]; readonly cut: boolean }> {
  const items: Item[] = []
  for (let page = from; page <= most; page += 1) {
    const found = await ask(z.array(schema), () => list({ page, per_page: perPage }))
    items.push(...found)
    if (found.length < perPage) return { items, cut: false }
  }
  return { items, cut: true }
}
