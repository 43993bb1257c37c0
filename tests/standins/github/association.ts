/** The relation of a person to a repository, which GitHub shows with what they write. */
import { organizationOf, sameName } from '../../../services/codehost/state/accounts.ts'
import type { Repository, State } from '../../../services/codehost/state/stateSchema.ts'

/** GitHub's `author_association`, which is no permission. */
export type Association = 'OWNER' | 'MEMBER' | 'COLLABORATOR' | 'CONTRIBUTOR' | 'NONE'

export function associationOf(state: State, repository: Repository, login: string): Association {
  if (sameName(repository.owner, login)) return 'OWNER'
  if (organizationOf(repository.owner)?.owners.some((one) => sameName(one, login))) return 'MEMBER'
  if (repository.collaborators.some((one) => sameName(one.login, login))) return 'COLLABORATOR'
  const contributed = state.pullRequests.some(
    (pull) => pull.repositoryId === repository.id && pull.merged !== null && sameName(pull.author, login),
  )
  return contributed ? 'CONTRIBUTOR' : 'NONE'
}
