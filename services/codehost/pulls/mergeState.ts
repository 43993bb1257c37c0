/** Whether a pull request can be merged, given the results of its checks and reviews. */
import type { PullRequest } from '../state/stateSchema.ts'

/** The combined state of all checks: the values of GraphQL's `StatusState` except `EXPECTED`. */
export type Checks = 'ERROR' | 'FAILURE' | 'PENDING' | 'SUCCESS'

export type ReviewDecision = 'APPROVED' | 'CHANGES_REQUESTED' | 'REVIEW_REQUIRED'

/** The results of checks and reviews. `checks` is `null` when none was reported. `decision` is `null` when the base branch needs no approval. */
export interface MergeRequirements {
  readonly checks: Checks | null
  readonly decision: ReviewDecision | null
}

/** The values of GraphQL's `MergeStateStatus` that occur here. The REST API writes them in lower case. */
export type MergeState = 'BLOCKED' | 'CLEAN' | 'DIRTY' | 'DRAFT' | 'UNKNOWN' | 'UNSTABLE'

/** The merge state. `mergeable` says whether git can merge the branches; `null` for a closed pull request. */
export function mergeStateOf(
  pull: PullRequest,
  mergeable: boolean | null,
  { checks, decision }: MergeRequirements,
): MergeState {
  if (mergeable === null) return 'UNKNOWN'
  if (!mergeable) return 'DIRTY'
  if (pull.draft) return 'DRAFT'
  if (decision !== null && decision !== 'APPROVED') return 'BLOCKED'
  return checks === null || checks === 'SUCCESS' ? 'CLEAN' : 'UNSTABLE'
}
