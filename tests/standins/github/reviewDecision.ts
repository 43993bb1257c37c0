/** Whether a pull request was approved, if a rule for its base branch requires that. */
import type { ReviewDecision } from '../../../services/codehost/pulls/mergeState.ts'
import { personOf } from '../../../services/codehost/state/accounts.ts'
import { mayPush } from '../../../services/codehost/state/permissions.ts'
import type { PullRequest, Repository } from '../../../services/codehost/state/stateSchema.ts'
import type { GitHubHost } from './host.ts'

/** `null` when the base branch requires no approval, whatever the reviews say, as on GitHub. */
export function reviewDecisionOf(
  { lifecycle, store }: GitHubHost,
  repository: Repository,
  pull: PullRequest,
): ReviewDecision | null {
  const needed = lifecycle.protectionOf(repository, pull.base)?.approvals ?? 0
  if (needed === 0) return null
  const latest = new Map(
    store
      .current()
      .reviews.filter((one) => one.repositoryId === repository.id && one.number === pull.number)
      .filter((one) => one.state !== 'COMMENTED' && mayPush(personOf(one.author), repository))
      .map((one) => [one.author, one.state]),
  )
  const states = [...latest.values()]
  if (states.includes('CHANGES_REQUESTED')) return 'CHANGES_REQUESTED'
  return states.filter((one) => one === 'APPROVED').length >= needed ? 'APPROVED' : 'REVIEW_REQUIRED'
}
