/** The result of a pull request's checks and reviews, and whether it can be merged. */
import type { PullRequest } from '../state/stateSchema.ts'

/** The combined state of all checks: GraphQL's `StatusState`. */
export type Checks = 'ERROR' | 'FAILURE' | 'PENDING' | 'SUCCESS'

export type ReviewDecision = 'APPROVED' | 'CHANGES_REQUESTED' | 'REVIEW_REQUIRED'

/** `checks` is `null` when none was reported, `decision` when the base branch needs no approval. */
export interface MergeRequirements {
  readonly checks: Checks | null
  readonly decision: ReviewDecision | null
}

/** GraphQL's `MergeStateStatus`; REST writes it in lower case. */
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
