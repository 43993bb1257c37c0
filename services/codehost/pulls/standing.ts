/** What checks and reviews say of a pull request, and whether it can be merged. */
import type { PullRequest } from '../state/state.ts'

/** GraphQL's `StatusState`. */
export type Checks = 'ERROR' | 'FAILURE' | 'PENDING' | 'SUCCESS'

export type ReviewDecision = 'APPROVED' | 'CHANGES_REQUESTED' | 'REVIEW_REQUIRED'

/** `null` where nothing was reported, and where the base branch needs no approval. */
export interface Standing {
  readonly checks: Checks | null
  readonly decision: ReviewDecision | null
}

/** GraphQL's `MergeStateStatus`; REST has it in small letters. */
export type MergeState = 'BLOCKED' | 'CLEAN' | 'DIRTY' | 'DRAFT' | 'UNKNOWN' | 'UNSTABLE'

/** `mergeable` says whether git can join the branches; `null` for a pull request that is closed. */
export function mergeStateOf(
  pull: PullRequest,
  mergeable: boolean | null,
  { checks, decision }: Standing,
): MergeState {
  if (mergeable === null) return 'UNKNOWN'
  if (!mergeable) return 'DIRTY'
  if (pull.draft) return 'DRAFT'
  if (decision !== null && decision !== 'APPROVED') return 'BLOCKED'
  return checks === null || checks === 'SUCCESS' ? 'CLEAN' : 'UNSTABLE'
}
