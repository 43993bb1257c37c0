/** Types for who acts on the code host, and for facts about a pull request and its author. */
import { accountOf, type Account } from './accounts.ts'
import type { Label } from './issueRecords.ts'
import type { PullRequest, Repository, State } from './stateSchema.ts'

/** Who acts. `viaApp` is the id of the App whose token the account uses; `null` when the account acts on a page. */
export interface Actor {
  readonly account: Account
  readonly viaApp: number | null
}

/** The id of the only App that the local code host knows. Tests add other Apps with the extension in host.ts. */
export const clientAppId = 1

/** Who makes a request to the API, according to its token. */
export type Caller =
  | { readonly kind: 'nobody' }
  | {
      readonly kind: 'somebody'
      readonly account: Account
      /** The id of the App for which the token was issued. */
      readonly appId: number
    }

/** Facts that the API's answers about a pull request contain: its labels, and the account of its author. */
export interface AboutPull {
  readonly labels: readonly Label[]
  readonly account: Account | undefined
}

export const aboutPull = (
  state: State,
  repository: Repository,
  { author, labels }: Pick<PullRequest, 'author' | 'labels'>,
): AboutPull => ({
  labels: state.labels.filter((one) => one.repositoryId === repository.id && labels.includes(one.name)),
  account: accountOf(author),
})
