/** What happens on the code host that webhooks tell. */
import type { Owner } from '../accounts.ts'
import type { PullRequest, Repository } from '../state.ts'

/** What happened to a pull request. */
export type PullRequestAction =
  | 'opened'
  | 'closed'
  | 'reopened'
  | 'synchronize'
  | 'converted_to_draft'
  | 'ready_for_review'
  | 'edited'

/** Something that webhooks tell. */
export type HostEvent =
  | {
      readonly kind: 'pull_request'
      readonly action: PullRequestAction
      readonly repository: Repository
      readonly pull: PullRequest
      /** As it was before it was edited, or before new commits. */
      readonly before?: PullRequest
      readonly sender: Owner
    }
  | {
      readonly kind: 'push'
      readonly repository: Repository
      readonly ref: string
      /** `null` for a branch that came. */
      readonly before: string | null
      /** `null` for a branch that went. */
      readonly after: string | null
      readonly sender: Owner
    }
