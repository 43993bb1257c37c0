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

/** What an issue says, with the time of the last change to that: both of one moment. */
export interface HostIssueText {
  readonly title: string
  readonly body: string
  /** `null` where the account is gone. */
  readonly author: { readonly login: string } | null
  readonly isOpen: boolean
  /** When the text was changed last; `null` where it never was. A new title may not count: `issueEvents` tells it. */
  readonly editedAt: string | null
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
  issueText(accessToken: string, nodeId: string): Promise<HostIssueText>
  /** Oldest first, up to 1,000 events. */
  issueEvents(
    accessToken: string,
    repository: RepositoryName,
    number: number,
  ): Promise<readonly HostIssueEvent[]>
  /** Oldest first, up to 1,000. */
  issueComments(
    accessToken: string,
    repository: RepositoryName,
    number: number,
  ): Promise<readonly HostComment[]>
  /** The name by which people mention our App; `null` where there is none. */
  mentionName(): Promise<string | null>
}
