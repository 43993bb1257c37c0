/** Who does something on the code host, with what, and how they stand to a repository. */
import { organizationOf, sameName, type Account } from './accounts.ts'
import type { Repository, State } from './state.ts'

/** Who does something, and the App whose token it is done with; `null` on a page. */
export interface Actor {
  readonly account: Account
  readonly viaApp: number | null
}

/** GitHub's `author_association`. It is no right. */
export type Association = 'OWNER' | 'MEMBER' | 'COLLABORATOR' | 'CONTRIBUTOR' | 'NONE'

/** How somebody stands to a repository, as GitHub tells it beside what they say. */
export function associationOf(state: State, repository: Repository, login: string): Association {
  if (sameName(repository.owner, login)) return 'OWNER'
  if (organizationOf(repository.owner)?.owners.some((one) => sameName(one, login))) return 'MEMBER'
  const contributed = state.pullRequests.some(
    (pull) => pull.repositoryId === repository.id && pull.merged !== null && sameName(pull.author, login),
  )
  return contributed ? 'CONTRIBUTOR' : 'NONE'
}
