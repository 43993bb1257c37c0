/** Requests of the REST API: reading bodies and paths, and answering lists in pages with GitHub's header Link. */
import type { Context } from 'koa'
import { z } from 'zod'
import { invalid, notFound, Refusal } from '../httpError.ts'
import type { Target } from '../reviews/reviewRules.ts'

const count = (fallback: number, most: number) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .catch(fallback)
    .transform((value) => Math.min(value, most))

const PageQuery = z.object({ per_page: count(30, 100), page: count(1, 1_000_000) })

/** Answers with the requested page of `items`, as made by `write`. If `page` or `per_page` is invalid, its default is used. */
export function answerPage<Item>(
  ctx: Context,
  origin: string,
  items: readonly Item[],
  write: (item: Item) => unknown,
): void {
  const { per_page: size, page } = PageQuery.parse(ctx.query)
  const last = Math.max(1, Math.ceil(items.length / size))
  const links = [
    ...(page > 1 ? [link(ctx, origin, Math.min(page - 1, last), 'prev'), link(ctx, origin, 1, 'first')] : []),
    ...(page < last ? [link(ctx, origin, page + 1, 'next'), link(ctx, origin, last, 'last')] : []),
  ]
  if (links.length > 0) ctx.set('Link', links.join(', '))
  ctx.body = items.slice((page - 1) * size, page * size).map(write)
}

function link(ctx: Context, origin: string, page: number, rel: string): string {
  const query = new URLSearchParams(ctx.querystring)
  query.set('page', String(page))
  return `<${origin}${ctx.path}?${query}>; rel="${rel}"`
}

/** Parses the body. Throws Refusal 400 when it is not an object, and 422 with the fields that are missing or wrong. */
export function bodyAs<Body>(ctx: Context, schema: z.ZodType<Body>, resource: string): Body {
  const body: unknown = ctx.request.body
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Refusal(400, 'Body should be a JSON object')
  }
  const read = schema.safeParse(body)
  if (read.success) return read.data
  throw invalid(
    ...read.error.issues.map((issue) => {
      const field = String(issue.path[0] ?? '')
      const given = Object.hasOwn(body, field)
      return { resource, field, code: given ? ('invalid' as const) : ('missing_field' as const) }
    }),
  )
}

/** The number in the path's parameter `name`. Throws Refusal 404 when the parameter is not a number. */
export function numberIn(ctx: Context & { params: Record<string, string> }, name: string): number {
  const text = ctx.params[name] ?? ''
  if (!/^\d{1,15}$/.test(text)) throw notFound()
  return Number(text)
}

/** The pull request's number and the id of the review or comment, both from the path. Throws Refusal 404. */
export const targetIn = (ctx: Context & { params: Record<string, string> }): Target => ({
  number: numberIn(ctx, 'number'),
  id: numberIn(ctx, 'id'),
})
