/** What fields are answered with, and how one that cannot be says so. */
import { GraphQLError } from 'graphql'
import { accountOf, type Account } from '../accounts.ts'
import { Refusal } from '../httpError.ts'
import { nodeId } from '../rest/answers.ts'
import type { Host } from '../services.ts'
import type { Wanted } from '../apps/permissions.ts'
import type { Actor } from '../actors.ts'
import type { Repository } from '../state.ts'

/** The host, who asks, and where they find the host. */
export interface Asking {
  readonly host: Host
  readonly viewer: Account
  readonly actor: Actor
  readonly origin: string
  /** Whether the App of the token was granted what a change needs on a repository. */
  readonly isGranted: (repository: Repository, wanted: Wanted) => boolean
}

/** Throws the error of one field where the App of the token was not granted `wanted`. */
export function require(asking: Asking, repository: Repository, wanted: Wanted): void {
  if (!asking.isGranted(repository, wanted))
    throw failed('FORBIDDEN', 'Resource not accessible by integration')
}

/** An error of one field: the others are answered. */
export const failed = (type: 'NOT_FOUND' | 'FORBIDDEN' | 'UNPROCESSABLE', message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { type } })

/** Turns the refusal of what a mutation wants into GitHub's error of that field. */
export async function done<Answer>(work: Promise<Answer>): Promise<Answer> {
  return work.catch((fault: unknown) => {
    if (!(fault instanceof Refusal)) throw fault
    const type = fault.status === 403 ? 'FORBIDDEN' : fault.status === 404 ? 'NOT_FOUND' : 'UNPROCESSABLE'
    throw failed(type, fault.message)
  })
}

/** A person or a bot. */
export const account = ({ type, id, login, name }: Account): object => ({
  __typename: type,
  id: nodeId(type, id),
  databaseId: id,
  login,
  name,
})

/** The person or bot with this login; `null` when there is none. */
export const accountNamed = (login: string): object | null => {
  const found = accountOf(login)
  return found ? account(found) : null
}
