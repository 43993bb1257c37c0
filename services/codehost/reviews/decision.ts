/** Whether a pull request was approved, as far as its base branch asks for it. */
import { mayPush, personOf } from '../accounts.ts'
import type { PullRequest, Repository, State } from '../state.ts'

export type ReviewDecision = 'APPROVED' | 'CHANGES_REQUESTED' | 'REVIEW_REQUIRED'

/** `null` where the base branch needs no approval, whatever reviews say: as on GitHub. */
export function reviewDecisionOf(
  state: Pick<State, 'reviews'>,
  repository: Repository,
  pull: PullRequest,
): ReviewDecision | null {
  const needed = repository.protections.find(({ branch }) => branch === pull.base)?.approvals ?? 0
  if (needed === 0) return null
  const latest = new Map(
    state.reviews
      .filter((one) => one.repositoryId === repository.id && one.number === pull.number)
      .filter((one) => one.state !== 'COMMENTED' && mayPush(personOf(one.author), repository))
      .map((one) => [one.author, one.state]),
  )
  const states = [...latest.values()]
  if (states.includes('CHANGES_REQUESTED')) return 'CHANGES_REQUESTED'
  return states.filter((one) => one === 'APPROVED').length >= needed ? 'APPROVED' : 'REVIEW_REQUIRED'
}
