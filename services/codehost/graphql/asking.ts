/** What fields are answered with, and how one that cannot be says so. */
import { GraphQLError } from 'graphql'
import type { Context } from 'koa'
import { accountOf, type Account } from '../state/accounts.ts'
import { Refusal } from '../httpError.ts'
import { nodeId } from '../rest/answers.ts'
import type { Host } from '../host.ts'
import type { Actor } from '../state/actors.ts'
import type { Repository } from '../state/state.ts'

/** The host, and who asks. */
export interface Asking {
  readonly host: Host
  readonly viewer: Account
  readonly actor: Actor
  readonly ctx: Context
}

/** Throws the error of one field where the one who asks may not change the repository. */
export function guard({ host, ctx }: Asking, repository: Repository): void {
  try {
    host.extension.guardMutation?.(ctx, repository)
  } catch (fault) {
    throw fieldFault(fault)
  }
}

/** An error of one field: the others are answered. */
export const failed = (type: 'NOT_FOUND' | 'FORBIDDEN' | 'UNPROCESSABLE', message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { type } })

/** Turns the refusal of what a mutation wants into GitHub's error of that field. */
export const done = <Answer>(work: Promise<Answer>): Promise<Answer> =>
  work.catch((fault: unknown) => {
    throw fieldFault(fault)
  })

function fieldFault(fault: unknown): unknown {
  if (!(fault instanceof Refusal)) return fault
  const type = fault.status === 403 ? 'FORBIDDEN' : fault.status === 404 ? 'NOT_FOUND' : 'UNPROCESSABLE'
  return failed(type, fault.message)
}

/** The person or bot with this login; `null` when there is none. */
export function accountNamed(login: string): object | null {
  const found = accountOf(login)
  if (!found) return null
  const { type, id } = found
  return { __typename: type, id: nodeId(type, id), databaseId: id, login: found.login }
}
