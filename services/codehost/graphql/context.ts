/** The context of a GraphQL request, and errors of single fields. */
import { GraphQLError } from 'graphql'
import type { Context } from 'koa'
import { accountOf, type Account } from '../state/accounts.ts'
import { Refusal } from '../httpError.ts'
import { nodeId } from '../rest/responses.ts'
import type { Host } from '../host.ts'
import type { Actor } from '../state/actors.ts'
import type { Repository } from '../state/stateSchema.ts'

/** The values that resolvers need: the code host, and who makes the request. */
export interface ResolverContext {
  readonly host: Host
  readonly viewer: Account
  readonly actor: Actor
  readonly ctx: Context
}

/** Throws a field error when the extension refuses the mutation. */
export function guard({ host, ctx }: ResolverContext, repository: Repository): void {
  try {
    host.extension.guardMutation?.(ctx, repository)
  } catch (fault) {
    throw fieldFault(fault)
  }
}

/** A field error. The other fields of the query are still answered. */
export const failed = (type: 'NOT_FOUND' | 'FORBIDDEN' | 'UNPROCESSABLE', message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { type } })

/** The result of a mutation. A refusal becomes a field error, as on GitHub. */
export const done = <Answer>(work: Promise<Answer>): Promise<Answer> =>
  work.catch((fault: unknown) => {
    throw fieldFault(fault)
  })

function fieldFault(fault: unknown): unknown {
  if (!(fault instanceof Refusal)) return fault
  const type = fault.status === 403 ? 'FORBIDDEN' : fault.status === 404 ? 'NOT_FOUND' : 'UNPROCESSABLE'
  return failed(type, fault.message)
}

/** The GraphQL object for the person or bot with this login; `null` when there is no such account. */
export function accountNamed(login: string): object | null {
  const found = accountOf(login)
  if (!found) return null
  const { type, id } = found
  return { __typename: type, id: nodeId(type, id), databaseId: id, login: found.login }
}
