/** Reads a JSON body by its schema; what is wrong is told in GitHub's words. */
import type { Context } from 'koa'
import type { z } from 'zod'
import { invalid, Refusal } from '../httpError.ts'

/** Throws Refusal 400 when the body is no object, 422 with the fields that are missing or wrong. */
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
