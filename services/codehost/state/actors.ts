/** Who does something on the code host, with what, and how they stand to a repository. */
import { accountOf, type Account } from './accounts.ts'
import type { Label } from './issueRecords.ts'
import type { PullRequest, Repository, State } from './state.ts'

/** Who does something, and the App whose token it is done with; `null` on a page. */
export interface Actor {
  readonly account: Account
  readonly viaApp: number | null
}

/** The number of the one app that the code host knows without an extension. */
export const clientAppId = 1

/** Who asks the API. */
export type Caller =
  | { readonly kind: 'nobody' }
  | {
      readonly kind: 'somebody'
      readonly account: Account
      /** The app whose token it is. */
      readonly appId: number
    }

/** What is told of a pull request beside itself: who opened it, and its labels. */
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
