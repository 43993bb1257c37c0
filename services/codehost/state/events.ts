/** Events of the code host that webhooks report. */
import type { Account, Owner } from './accounts.ts'
import type { IssueComment, Review, ReviewComment, ReviewThread } from './reviewRecords.ts'
import type { Issue } from './issueRecords.ts'
import type { PullRequest, Repository } from './stateSchema.ts'

/** What happened to a pull request. */
export type PullRequestAction =
  | 'opened'
  | 'closed'
  | 'reopened'
  | 'synchronize'
  | 'converted_to_draft'
  | 'ready_for_review'
  | 'edited'
  | 'labeled'
  | 'unlabeled'

/** An event that webhooks report. */
export type HostEvent =
  | {
      readonly kind: 'pull_request'
      readonly action: PullRequestAction
      readonly repository: Repository
      readonly pull: PullRequest
      /** The pull request as it was before an edit or new commits. */
      readonly before?: PullRequest
      /** The name of the label that was added or removed. */
      readonly label?: string
      readonly sender: Owner
    }
  | {
      readonly kind: 'push'
      readonly repository: Repository
      readonly ref: string
      /** `null` for a new branch. */
      readonly before: string | null
      /** `null` for a deleted branch. */
      readonly after: string | null
      readonly sender: Owner
    }
  | (OnPull & {
      readonly kind: 'pull_request_review'
      readonly action: 'submitted' | 'edited' | 'dismissed'
      readonly review: Review
      readonly before?: Review
    })
  | (OnPull & {
      readonly kind: 'pull_request_review_comment'
      readonly action: 'created' | 'edited' | 'deleted'
      readonly comment: ReviewComment
      readonly before?: ReviewComment
    })
  | (OnPull & {
      readonly kind: 'pull_request_review_thread'
      readonly action: 'resolved' | 'unresolved'
      readonly thread: ReviewThread
    })
  | {
      readonly kind: 'issue_comment'
      readonly action: 'created' | 'edited' | 'deleted'
      readonly repository: Repository
      /** Whether the comment is on a pull request. */
      readonly isPull: boolean
      readonly comment: IssueComment
      readonly before?: IssueComment
      readonly sender: Account
    }
  | {
      readonly kind: 'issues'
      readonly action: 'opened' | 'edited' | 'labeled' | 'unlabeled' | 'closed' | 'reopened'
      readonly repository: Repository
      readonly issue: Issue
      readonly label?: string
      readonly before?: Issue
      readonly sender: Account
    }

interface OnPull {
  readonly repository: Repository
  readonly pull: PullRequest
  readonly sender: Account
}
