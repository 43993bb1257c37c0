/** What comes back on a pull request at the code host, and what is said there in return. Part of the port `CodeHost`. */
import type { CheckAnnotation, RepositoryRight } from '#domain/task/codeHost/feedbackEvents.ts'
import type { RepositoryName } from './repositoryName.ts'

export interface HostAuthor {
  /** The host's numeric id, as a decimal string. */
  readonly id: string
  readonly login: string
  readonly isBot: boolean
}

/** Something that somebody wrote. Times are ISO 8601. */
export interface HostWords {
  readonly id: string
  /** `null` where the account is gone. */
  readonly author: HostAuthor | null
  readonly body: string
  readonly writtenAt: string
  readonly url: string
}

export interface HostReview extends HostWords {
  readonly state: 'approved' | 'changes_requested' | 'commented'
  /** The commit that was reviewed; `null` where the host no longer knows it. */
  readonly commit: string | null
}

/** A comment on lines, which is always part of a review. */
export interface HostLineComment extends HostWords {
  readonly reviewId: string | null
  /** The first comment of its thread: itself, where it is that. */
  readonly threadId: string
  readonly path: string
  readonly line: number | null
  readonly startLine: number | null
  readonly isOutdated: boolean
  readonly hunk: string
}

/** A comment on the pull request as a whole. */
export interface HostComment extends HostWords {
  /** Written by a token of our own App, also where that was a person's. */
  readonly isByOurApp: boolean
}

export interface HostFeedback {
  readonly reviews: readonly HostReview[]
  readonly lines: readonly HostLineComment[]
  readonly comments: readonly HostComment[]
}

/** A check that failed on a commit, or a status that says so. */
export interface HostFailedCheck {
  readonly id: string
  readonly name: string
  readonly conclusion: string
  readonly endedAt: string
  readonly url: string | null
  readonly summary: string
  /** The job whose log it has; `null` where it is not one of the host's own. */
  readonly jobId: string | null
  /** Whether there may be notes on lines: a status has none. */
  readonly hasAnnotations: boolean
}

export interface HostLog {
  /** The end of it, in characters from the step that failed. */
  readonly text: string
  readonly isCut: boolean
}

/** All calls throw `CodeHostFault`. */
export interface CodeHostFeedback {
  /**
   * What was written on a pull request and is submitted, oldest first, up to 1,000 of each. `comments` is empty where the host does not show
   * them to this token.
   */
  pullRequestFeedback(accessToken: string, repository: RepositoryName, number: number): Promise<HostFeedback>
  /** What an account may do in the repository; `none` for whom the host does not know, and where the login is another account's by now. */
  repositoryRight(
    accessToken: string,
    repository: RepositoryName,
    account: Pick<HostAuthor, 'id' | 'login'>,
  ): Promise<RepositoryRight>
  /**
   * The checks that failed on a commit, of the latest attempts, and what its statuses say failed; what reports as both is the check. A status
   * has one id as long as it is of this commit. Without statuses where the host does not show them to this token.
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
   * The end of a job's log, read piece by piece; `undefined` where there is none yet or any more. `shown` takes out what must not be shown,
   * before the log is cut to the step that failed: what a cut begins in could not be recognized. Throws `RangeError` where it is too long.
   */
  jobLog(
    accessToken: string,
    repository: RepositoryName,
    jobId: string,
    shown: (text: string) => string,
  ): Promise<HostLog | undefined>
  /** Writes a comment: in the thread of a comment on lines, or on the pull request as a whole. Never repeated by itself. Answers its id. */
  writeComment(
    accessToken: string,
    repository: RepositoryName,
    number: number,
    comment: { readonly threadId: string | null; readonly body: string },
  ): Promise<string>
  /** Replaces the text of a comment on an issue or on a pull request as a whole. Throws CodeHostFault. */
  editComment(accessToken: string, repository: RepositoryName, commentId: string, body: string): Promise<void>
  /** Resolves the threads of a pull request that begin with one of these comments. Answers how many there are, also of those that were resolved before. */
  resolveThreads(accessToken: string, nodeId: string, threadIds: readonly string[]): Promise<number>
  /** Makes a pull request a draft, or ready for review. */
  setDraft(accessToken: string, nodeId: string, draft: boolean): Promise<void>
}
