/** Whether a pull request was approved, as far as its base branch asks for it, and whether it can be merged. */
import { mayPush, personOf } from '../accounts.ts'
import { reportsOf, rollupOf } from '../checks/rollup.ts'
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

/** GraphQL's `MergeStateStatus`; REST has it in small letters. */
export type MergeState = 'BLOCKED' | 'CLEAN' | 'DIRTY' | 'DRAFT' | 'UNKNOWN' | 'UNSTABLE'

/** `mergeable` says whether git can join the branches; `null` for a pull request that is closed. */
export function mergeStateOf(
  state: Pick<State, 'reviews' | 'checkRuns' | 'statuses'>,
  repository: Repository,
  pull: PullRequest,
  mergeable: boolean | null,
): MergeState {
  if (mergeable === null) return 'UNKNOWN'
  if (!mergeable) return 'DIRTY'
  if (pull.draft) return 'DRAFT'
  const decision = reviewDecisionOf(state, repository, pull)
  if (decision !== null && decision !== 'APPROVED') return 'BLOCKED'
  const checks = rollupOf(reportsOf(state, repository.id, pull.headSha))
  return checks === null || checks === 'SUCCESS' ? 'CLEAN' : 'UNSTABLE'
}
