/** The events of the code host that webhooks report. */
import type { Account, Owner } from './accounts.ts'
import type { IssueComment, Review, ReviewComment, ReviewThread } from './reviewRecords.ts'
import type { Issue } from './issueRecords.ts'
import type { PullRequest, Repository } from './stateSchema.ts'

/** The kinds of changes to a pull request, under GitHub's names. */
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

/** The values of `kind` and `action` are GitHub's. */
export type HostEvent =
  | {
      readonly kind: 'pull_request'
      readonly action: PullRequestAction
      readonly repository: Repository
      readonly pull: PullRequest
      /** The pull request as it was before; always set for `edited` and `synchronize`. */
      readonly before?: PullRequest
      /** For `labeled` and `unlabeled`: the name of the label. */
      readonly label?: string
      readonly sender: Owner
    }
  | {
      readonly kind: 'push'
      readonly repository: Repository
      readonly ref: string
      /** The branch's last commit before the push; `null` for a new branch. */
      readonly before: string | null
      /** The branch's last commit after the push; `null` for a deleted branch. */
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
