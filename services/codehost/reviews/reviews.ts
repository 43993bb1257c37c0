/** Reviews of pull requests, and the threads of their comments on lines. */
import { sameName } from '../state/accounts.ts'
import type { Actor } from '../state/actors.ts'
import { notFound } from '../httpError.ts'
import type { PullRequest, Repository, State } from '../state/stateSchema.ts'
import { createLines, type Place } from './commentPlaces.ts'
import type { Review, ReviewComment, ReviewThread } from '../state/reviewRecords.ts'
import {
  commentOf,
  newText,
  refuseMore,
  tellReview,
  threadBase,
  touched,
  unprocessable,
  type Parts,
  type Target,
} from './reviewRules.ts'
import { reply, setResolved } from './threads.ts'

/** A comment on lines of the diff that a new review contains. */
export interface NewComment {
  readonly path: string
  readonly body: string
  readonly line: number
  readonly side: 'LEFT' | 'RIGHT'
  readonly startLine: number | null
  readonly startSide: 'LEFT' | 'RIGHT' | null
}

export interface NewReview {
  readonly event: 'APPROVE' | 'REQUEST_CHANGES' | 'COMMENT'
  readonly body: string
  /** The commit that the reviewer looked at; `undefined` for the head of the pull request. */
  readonly commitId: string | undefined
  readonly comments: readonly NewComment[]
}

export interface Reviews {
  of(repository: Repository, number: number): readonly Review[]
  /** Returns a review. Throws Refusal 404. */
  get(repository: Repository, number: number, id: number): Review
  /**
   * Adds a review. Throws Refusal 404, and 422, for example for lines outside of the diff, for an empty review, and when authors approve or reject
   * their own work.
   */
  submit(repository: Repository, number: number, by: Actor, request: NewReview): Promise<Review>
  /** The comments on lines in a pull request or, without `number`, in all pull requests of the repository. */
  comments(repository: Repository, number?: number): readonly ReviewComment[]
  /** Returns a comment on lines. Throws Refusal 404. */
  comment(repository: Repository, id: number): ReviewComment
  /** Replies in a comment's thread. As on GitHub, the reply has its own review. Throws Refusal 404, and 422 when there are too many texts. */
  reply(repository: Repository, target: Target, by: Actor, body: string): Promise<ReviewComment>
  threads(repository: Repository, number: number): readonly ReviewThread[]
  /** Marks a thread as resolved or unresolved. Throws Refusal 404, and 403 when the actor neither opened the pull request nor may push. */
  setResolved(repository: Repository, threadId: number, by: Actor, resolved: boolean): Promise<ReviewThread>
  /** The place of a comment in the current state of its pull request. */
  place(repository: Repository, comment: ReviewComment): Promise<Place>
}

export function createReviews(parts: Parts): Reviews {
  const lines = createLines()
  const state = () => parts.store.current()
  const ofPull = <Item extends { repositoryId: number; number: number }>(
    items: readonly Item[],
    repository: Repository,
    number?: number,
  ) =>
    items.filter(
      (one) => one.repositoryId === repository.id && (number === undefined || one.number === number),
    )
  return {
    of: (repository, number) => ofPull(state().reviews, repository, number),
    get: (repository, number, id) => reviewOf(state(), repository, { number, id }),
    submit: (repository, number, by, request) => submit({ ...parts, lines }, repository, number, by, request),
    comments: (repository, number) => ofPull(state().reviewComments, repository, number),
    comment: (repository, id) => commentOf(state(), repository, id),
    reply: (repository, target, by, body) => reply(parts, repository, target, by, body),
    threads: (repository, number) => ofPull(state().reviewThreads, repository, number),
    setResolved: (repository, id, by, resolved) => setResolved(parts, repository, id, by, resolved),
    place: (repository, comment) =>
      lines.place(parts.repositories.bare(repository), parts.pulls.get(repository, comment.number), comment),
  }
}

const verdicts = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const

async function submit(
  parts: Parts & { readonly lines: ReturnType<typeof createLines> },
  repository: Repository,
  number: number,
  by: Actor,
  request: NewReview,
): Promise<Review> {
  const pull = parts.pulls.get(repository, number)
  refuseEmpty(pull, by, request)
  const bare = parts.repositories.bare(repository)
  const commitId = request.commitId ?? pull.headSha
  if (commitId !== pull.headSha && !(await isOfPull(parts, repository, pull, commitId)))
    throw unprocessable('commit_id is not part of the pull request')
  const baseId = (await bare.mergeBase(pull.baseSha, commitId)) ?? pull.baseSha
  const hunks: string[] = []
  for (const { path, side, line, startLine } of request.comments) {
    const range = { base: pull.baseSha, head: commitId }
    const hunk = await parts.lines.hunk(bare, range, { path, side, line })
    if (!hunk) throw unprocessable('pull_request_review_thread.line must be part of the diff')
    if (startLine !== null && startLine >= line) throw unprocessable('start_line must precede the end line.')
    hunks.push(hunk.text)
  }
  const now = parts.clock.now().toISOString()
  const { review, comments } = await parts.store.update((state) => {
    refuseMore(state, repository, number, request.comments.length)
    let id = state.nextTextId
    const said = { ...newText(repository, number, by, now) }
    const made: Review = {
      ...said,
      id: id++,
      body: request.body,
      state: verdicts[request.event],
      commitId,
    }
    const added = request.comments.map((comment, index): ReviewComment => {
      const own = { id: id++, threadId: id++ }
      const diffHunk = hunks[index] ?? ''
      return { ...said, ...comment, ...own, reviewId: made.id, inReplyTo: null, commitId, baseId, diffHunk }
    })
    const threads = added.map(({ threadId }) => ({ ...threadBase(repository, number), id: threadId }))
    return [
      touched(
        {
          ...state,
          nextTextId: id,
          reviews: [...state.reviews, made],
          reviewComments: [...state.reviewComments, ...added],
          reviewThreads: [...state.reviewThreads, ...threads],
        },
        pull,
        now,
      ),
      { review: made, comments: added },
    ]
  })
  tellReview(parts, repository, by, { review, comments })
  return review
}

const isOfPull = async (parts: Parts, repository: Repository, pull: PullRequest, sha: string) =>
  /^[0-9a-f]{40,64}$/.test(sha) &&
  (await parts.repositories
    .bare(repository)
    .isAncestor(sha, pull.headSha)
    .catch(() => false))

function refuseEmpty(pull: PullRequest, by: Actor, { event, body, comments }: NewReview): void {
  const isOwn = sameName(pull.author, by.account.login)
  if (event === 'APPROVE' && isOwn) throw unprocessable('Can not approve your own pull request')
  if (event === 'REQUEST_CHANGES' && isOwn)
    throw unprocessable('Can not request changes on your own pull request')
  if (event === 'REQUEST_CHANGES' && body === '') throw unprocessable('Body can not be blank')
  if (event === 'COMMENT' && body === '' && comments.length === 0)
    throw unprocessable('Body can not be blank')
}

function reviewOf(state: State, repository: Repository, { number, id }: Target): Review {
  const found = state.reviews.find(
    (one) => one.repositoryId === repository.id && one.number === number && one.id === id,
  )
  if (!found) throw notFound()
  return found
}
