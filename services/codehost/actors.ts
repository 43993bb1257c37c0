/** Who does something on the code host, with what, and how they stand to a repository. */
import { accountOf, organizationOf, sameName, type Account } from './accounts.ts'
import type { Label } from './issues/records.ts'
import type { PullRequest, Repository, State } from './state.ts'

/** Who does something, and the App whose token it is done with; `null` on a page. */
export interface Actor {
  readonly account: Account
  readonly viaApp: number | null
}

/** GitHub's `author_association`. It is no right. */
export type Association = 'OWNER' | 'MEMBER' | 'COLLABORATOR' | 'CONTRIBUTOR' | 'NONE'

/** What is told of a pull request beside itself: who opened it, how they stand to its repository, and its labels. */
export interface AboutPull {
  readonly labels: readonly Label[]
  readonly account: Account | undefined
  readonly association: Association
}

export const aboutPull = (
  state: State,
  repository: Repository,
  { author, labels }: Pick<PullRequest, 'author' | 'labels'>,
): AboutPull => ({
  labels: state.labels.filter((one) => one.repositoryId === repository.id && labels.includes(one.name)),
  account: accountOf(author),
  association: associationOf(state, repository, author),
})

/** How somebody stands to a repository, as GitHub tells it beside what they say. */
export function associationOf(state: State, repository: Repository, login: string): Association {
  if (sameName(repository.owner, login)) return 'OWNER'
  if (organizationOf(repository.owner)?.owners.some((one) => sameName(one, login))) return 'MEMBER'
  if (repository.collaborators.some((one) => sameName(one.login, login))) return 'COLLABORATOR'
  const contributed = state.pullRequests.some(
    (pull) => pull.repositoryId === repository.id && pull.merged !== null && sameName(pull.author, login),
  )
  return contributed ? 'CONTRIBUTOR' : 'NONE'
}
