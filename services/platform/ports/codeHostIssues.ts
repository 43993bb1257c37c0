/** Issues at the code host. Part of the port `CodeHost`. Times are ISO 8601. */
import type { HostAuthor, HostComment } from './codeHostFeedback.ts'
import type { RepositoryName } from './repositoryName.ts'

export interface HostIssue {
  readonly id: string
  readonly nodeId: string
  readonly number: number
  readonly url: string
  readonly author: HostAuthor | null
  readonly isByOurApp: boolean
  readonly isPullRequest: boolean
  readonly labels: readonly string[]
  readonly comments: number
  readonly createdAt: string
  readonly updatedAt: string
}

/** The last edit of a text; `by` is `null` when the account is unknown or is not a person's. */
export interface HostEdit {
  readonly at: string
  readonly by: HostAuthor | null
}

/** A comment on an issue, with the id by which `issueText` finds it. */
export interface HostIssueComment extends HostComment {
  readonly nodeId: string
}

/** The text of a comment, with its last edit; `edit` is `null` when the text was never edited. */
export interface HostCommentText {
  readonly body: string
  readonly edit: HostEdit | null
}

/** The text of an issue and of comments on it, with their last edits, all as of one moment. */
export interface HostIssueText {
  readonly title: string
  readonly body: string
  /** The author of the issue; `null` when the account no longer exists. */
  readonly author: { readonly login: string } | null
  readonly isOpen: boolean
  /** The last edit of the issue's text; `null` when the text was never edited. A change of the title may be missing here; `issueEvents` has it. */
  readonly edit: HostEdit | null
  /** The requested comments that still exist, by node id. */
  readonly comments: ReadonlyMap<string, HostCommentText>
}

/** A label that was set or removed, or a title change. */
export interface HostIssueEvent {
  readonly kind: 'labeled' | 'unlabeled' | 'renamed'
  /** The label that was added or removed; `null` for a change of the title. */
  readonly label: string | null
  readonly at: string
  readonly actor: HostAuthor | null
  readonly isByOurApp: boolean
}

/** The query for open issues that changed since `since`, oldest change first. */
export interface IssueQuery {
  /** The label that the issues must have; `null` for all issues, with or without labels. */
  readonly label: string | null
  readonly since: string
  /** The ETag of an earlier answer to the same query and token. */
  readonly etag?: string
}

/** The part of the port for issues. All calls throw `CodeHostFault`. */
export interface CodeHostIssues {
  /** At most 1,000 issues, including pull requests; `unchanged` when the ETag still matches. `isCut` says that there are more. */
  issues(
    accessToken: string,
    repository: RepositoryName,
    query: IssueQuery,
  ): Promise<
    | { readonly issues: readonly HostIssue[]; readonly isCut: boolean; readonly etag: string | null }
    | 'unchanged'
  >
  issue(accessToken: string, repository: RepositoryName, number: number): Promise<HostIssue>
  /**
   * The text of an issue and of at most 100 of its comments. Throws `not_found` when the issue no longer exists, and the host's fault when this token
   * may not see it.
   */
  issueText(accessToken: string, nodeId: string, commentNodeIds: readonly string[]): Promise<HostIssueText>
  /** The latest events, oldest first. `isCut` says that there are earlier ones. */
  issueEvents(
    accessToken: string,
    repository: RepositoryName,
    number: number,
  ): Promise<{ readonly events: readonly HostIssueEvent[]; readonly isCut: boolean }>
  /**
   * The latest comments that were written or edited since the time `since`, or at any time with `null`, oldest first. `isCut` says that there are
   * earlier comments.
   */
  issueComments(
    accessToken: string,
    repository: RepositoryName,
    number: number,
    since: string | null,
  ): Promise<{ readonly comments: readonly HostIssueComment[]; readonly isCut: boolean }>
  issueComment(accessToken: string, repository: RepositoryName, id: string): Promise<HostIssueComment>
  /** The name by which people mention our App; `null` when there is no App, or none with a confirmed name. */
  mentionName(): Promise<string | null>
}
