/** Feedback on a pull request at the code host, and our replies to it. Part of the port `CodeHost`. */
import type { CheckAnnotation, RepositoryRight } from '#domain/task/codeHost/feedbackEvents.ts'
import type { RepositoryName } from './repositoryName.ts'

export interface HostAuthor {
  /** The host's numeric id as a decimal string. */
  readonly id: string
  readonly login: string
  readonly isBot: boolean
}

/** A text that somebody wrote. Times are in the format of ISO 8601. */
export interface HostWords {
  readonly id: string
  /** The author of the text; `null` when the account no longer exists. */
  readonly author: HostAuthor | null
  readonly body: string
  readonly writtenAt: string
  readonly url: string
}

export interface HostReview extends HostWords {
  readonly state: 'approved' | 'changes_requested' | 'commented'
  /** The reviewed commit; `null` when the host no longer knows it. */
  readonly commit: string | null
}

/** A review comment on lines of a file or, if `line` is `null`, on the whole file. */
export interface HostLineComment extends HostWords {
  readonly reviewId: string | null
  /** The id of the first comment in the thread, which may be this comment. */
  readonly threadId: string
  readonly path: string
  readonly line: number | null
  readonly startLine: number | null
  readonly isOutdated: boolean
  readonly hunk: string
}

/** A comment on the pull request as a whole. */
export interface HostComment extends HostWords {
  /** Whether the comment was written through our App, be it with the App's own token or a person's. */
  readonly isByOurApp: boolean
}

export interface HostFeedback {
  readonly reviews: readonly HostReview[]
  readonly lines: readonly HostLineComment[]
  readonly comments: readonly HostComment[]
}

/** A failed check on a commit, or a status that reports a failure. */
export interface HostFailedCheck {
  readonly id: string
  readonly name: string
  readonly conclusion: string
  readonly endedAt: string
  readonly url: string | null
  readonly summary: string
  /** The job with the check's log; `null` when the check does not run on the host's own CI. */
  readonly jobId: string | null
  /** Whether the check may have annotations of lines; a commit status has none. */
  readonly hasAnnotations: boolean
}

export interface HostLog {
  /** The end of the log, in at most 65,536 UTF-16 code units: from the failed step on, if one can be found. */
  readonly text: string
  readonly isCut: boolean
}

/** The part of the port for feedback. All calls throw `CodeHostFault`. */
export interface CodeHostFeedback {
  /**
   * The reviews and comments of a pull request, oldest first, of each kind at most the last 1,000, without pending and dismissed reviews. `comments`
   * is empty when the host does not show them to this token.
   */
  pullRequestFeedback(accessToken: string, repository: RepositoryName, number: number): Promise<HostFeedback>
  /** An account's permission in the repository; `none` when the host does not know the account, or when the login now belongs to another account. */
  repositoryRight(
    accessToken: string,
    repository: RepositoryName,
    account: Pick<HostAuthor, 'id' | 'login'>,
  ): Promise<RepositoryRight>
  /**
   * The failed ones of a commit's first 100 checks, by their latest attempts, and of its first 100 statuses. If a check and a status have the same
   * name, only the check is returned. A status that is reported again for the commit keeps its id. Statuses are missing when the host hides them.
   */
  failedChecks(
    accessToken: string,
    repository: RepositoryName,
    commit: string,
  ): Promise<readonly HostFailedCheck[]>
  checkAnnotations(
    accessToken: string,
    repository: RepositoryName,
    checkId: string,
  ): Promise<readonly CheckAnnotation[]>
  /**
   * The end of a job's log; `undefined` when the host has no log, or does not show it. `shown` removes secrets; it is applied before the log is cut
   * to the failed step, because a secret that is cut in two could not be recognized. Throws `RangeError` when the log is longer than 1 GiB.
   */
  jobLog(
    accessToken: string,
    repository: RepositoryName,
    jobId: string,
    shown: (text: string) => string,
  ): Promise<HostLog | undefined>
  /** Writes a comment in the thread of a line comment, or on the issue or pull request as a whole. Never retried automatically. Returns its id. */
  writeComment(
    accessToken: string,
    repository: RepositoryName,
    number: number,
    comment: { readonly threadId: string | null; readonly body: string },
  ): Promise<string>
  /** Replaces the text of a comment on an issue or on a pull request as a whole. */
  editComment(accessToken: string, repository: RepositoryName, commentId: string, body: string): Promise<void>
  /**
   * Resolves the threads, among the first 1,000 of a pull request, that begin with one of the comments in `threadIds`. Returns how many such threads
   * there are, including those that were already resolved.
   */
  resolveThreads(accessToken: string, nodeId: string, threadIds: readonly string[]): Promise<number>
  /** Makes a pull request a draft, or ready for review. */
  setDraft(accessToken: string, nodeId: string, draft: boolean): Promise<void>
}
