/** Who acts on the code host and through which App, and their relation to a repository. */
import { accountOf, type Account } from './accounts.ts'
import type { Label } from './issueRecords.ts'
import type { PullRequest, Repository, State } from './stateSchema.ts'

/** Who acts, and the App whose token they use; `null` when they act on a page. */
export interface Actor {
  readonly account: Account
  readonly viaApp: number | null
}

/** The number of the only App that the local code host knows. Tests add others by an extension (see host.ts). */
export const clientAppId = 1

/** The holder of the token of an API request. */
export type Caller =
  | { readonly kind: 'nobody' }
  | {
      readonly kind: 'somebody'
      readonly account: Account
      /** The App that issued the token. */
      readonly appId: number
    }

/** Facts about a pull request that are not in its record: its author's relation to the repository, and its labels. */
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
