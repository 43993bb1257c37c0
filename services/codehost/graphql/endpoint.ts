/** Answers `POST /api/graphql`, with status 200 also when fields have errors. */
import type { Context } from 'koa'
import { graphql, type GraphQLFormattedError } from 'graphql'
import { z } from 'zod'
import { Refusal } from '../httpError.ts'
import type { Host } from '../host.ts'
import { actorOf } from '../rest/repositories.ts'
import type { ResolverContext } from './context.ts'
import { root } from './resolvers.ts'
import { schema } from './schema.ts'

const Request = z.object({
  query: z.string().max(100_000),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
})

/** Answers a query. Throws Refusal 401 without a valid token, and 400 when the body is not a query. */
export async function answerGraphql(ctx: Context, host: Host): Promise<void> {
  const actor = actorOf(ctx, host)
  const asked = Request.safeParse(ctx.request.body)
  if (!asked.success) throw new Refusal(400, 'A query attribute must be specified and must be a string.')
  const { query, variables, operationName } = asked.data
  const contextValue: ResolverContext = {
    host,
    actor,
    viewer: actor.account,
    ctx,
  }
  const { data, errors } = await graphql({
    schema,
    rootValue: root,
    contextValue,
    source: query,
    variableValues: variables ?? {},
    ...(operationName == null ? {} : { operationName }),
  })
  ctx.status = 200
  ctx.body = {
    ...(data === undefined ? {} : { data }),
    ...(errors === undefined ? {} : { errors: errors.map((error) => typed(error.toJSON())) }),
  }
}

/** The error in GitHub's form, in which the type is next to the message, not in `extensions`. */
function typed({ extensions, ...error }: GraphQLFormattedError): object {
  return { ...(extensions?.['type'] === undefined ? {} : { type: extensions['type'] }), ...error }
}
