/** Issues at the code host. Part of the port `CodeHost`. Times are ISO 8601. */
import type { HostAuthor, HostComment } from './codeHostFeedback.ts'
import type { RepositoryName } from './repositoryName.ts'

/** An issue in a list. */
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

/** The last change of a text; `by` is `null` where the account is gone. */
export interface HostEdit {
  readonly at: string
  readonly by: HostAuthor | null
}

/** A comment on an issue, as it is in a list. */
export interface HostIssueComment extends HostComment {
  readonly nodeId: string
}

/** What a comment says, with the last change to that; `null` where it never was changed. */
export interface HostCommentText {
  readonly body: string
  readonly edit: HostEdit | null
}

/** What an issue and comments on it say, with the last change to that: all of one moment. */
export interface HostIssueText {
  readonly title: string
  readonly body: string
  /** `null` where the account is gone. */
  readonly author: { readonly login: string } | null
  readonly isOpen: boolean
  /** `null` where the text never was changed. A new title may not count: `issueEvents` tells it. */
  readonly edit: HostEdit | null
  /** Those that were asked for and are still there, by their node ids. */
  readonly comments: ReadonlyMap<string, HostCommentText>
}

/** A label that was set or taken off, or a new title. */
export interface HostIssueEvent {
  readonly kind: 'labeled' | 'unlabeled' | 'renamed'
  /** `null` for a title. */
  readonly label: string | null
  readonly at: string
  readonly actor: HostAuthor | null
  readonly isByOurApp: boolean
}

/** Which issues are listed: the open ones that changed since, oldest change first. */
export interface IssueQuery {
  /** `null`: with whatever labels. */
  readonly label: string | null
  readonly since: string
  /** Of an earlier answer to the same question and token. */
  readonly etag?: string
}

/** All calls throw `CodeHostFault`. */
export interface CodeHostIssues {
  /** Up to 1,000 of them, pull requests among them; `unchanged` where the tag is still that of the answer. `isCut`: there are more. */
  issues(
    accessToken: string,
    repository: RepositoryName,
    query: IssueQuery,
  ): Promise<
    | { readonly issues: readonly HostIssue[]; readonly isCut: boolean; readonly etag: string | null }
    | 'unchanged'
  >
  /** One of them; also a closed one. */
  issue(accessToken: string, repository: RepositoryName, number: number): Promise<HostIssue>
  /** Throws `not_found` where the issue is gone, and what the host says where it does not show it to this token. Up to 100 comments. */
  issueText(accessToken: string, nodeId: string, commentNodeIds: readonly string[]): Promise<HostIssueText>
  /** The latest, oldest first. `isCut`: there were earlier ones. */
  issueEvents(
    accessToken: string,
    repository: RepositoryName,
    number: number,
  ): Promise<{ readonly events: readonly HostIssueEvent[]; readonly isCut: boolean }>
  /** The same of comments that were written or changed since; of all where that is `null`. */
  issueComments(
    accessToken: string,
    repository: RepositoryName,
    number: number,
    since: string | null,
  ): Promise<{ readonly comments: readonly HostIssueComment[]; readonly isCut: boolean }>
  /** One comment. */
  issueComment(accessToken: string, repository: RepositoryName, id: string): Promise<HostIssueComment>
  /** The name by which people mention our App; `null` where there is none. */
  mentionName(): Promise<string | null>
}
