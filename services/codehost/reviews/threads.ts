/** Threads of comments on lines: replying to a comment, and resolving a thread. */
import { sameName } from '../state/accounts.ts'
import type { Actor } from '../state/actors.ts'
import { notFound, Refusal } from '../httpError.ts'
import type { Repository, State } from '../state/stateSchema.ts'
import type { Review, ReviewComment, ReviewThread } from '../state/reviewRecords.ts'
import {
  commentOf,
  mayWriteAs,
  newText,
  refuseMore,
  tellReview,
  touched,
  type Parts,
  type Target,
} from './reviewRules.ts'

export async function reply(
  parts: Parts,
  repository: Repository,
  { number, id }: Target,
  by: Actor,
  body: string,
): Promise<ReviewComment> {
  const pull = parts.pulls.get(repository, number)
  const now = parts.clock.now().toISOString()
  const { review, comment } = await parts.store.update((state) => {
    const to = commentOf(state, repository, id)
    if (to.number !== number) throw notFound()
    refuseMore(state, repository, number, 1)
    const said = newText(repository, number, by, now)
    const made: Review = {
      ...said,
      id: state.nextTextId,
      body: '',
      state: 'COMMENTED',
      commitId: pull.headSha,
    }
    // As on GitHub, `inReplyTo` is always the first comment of the thread, even if the reply answers a later comment.
    const inReplyTo = to.inReplyTo ?? to.id
    const added: ReviewComment = {
      ...to,
      ...said,
      id: state.nextTextId + 1,
      body,
      reviewId: made.id,
      inReplyTo,
    }
    return [
      touched(
        {
          ...state,
          nextTextId: state.nextTextId + 2,
          reviews: [...state.reviews, made],
          reviewComments: [...state.reviewComments, added],
        },
        pull,
        now,
      ),
      { review: made, comment: added },
    ]
  })
  tellReview(parts, repository, by, { review, comments: [comment] })
  return comment
}

export async function setResolved(
  { store, pulls, tell }: Parts,
  repository: Repository,
  threadId: number,
  by: Actor,
  resolved: boolean,
): Promise<ReviewThread> {
  const threadOf = (state: State) => {
    const found = state.reviewThreads.find((one) => one.repositoryId === repository.id && one.id === threadId)
    if (!found) throw notFound()
    return found
  }
  const before = threadOf(store.current())
  const pull = pulls.get(repository, before.number)
  if (!mayWriteAs(by, repository) && !sameName(pull.author, by.account.login))
    throw new Refusal(403, `${by.account.login} does not have the correct permissions to execute this.`)
  if ((before.resolvedBy !== null) === resolved) return before
  const thread = await store.update((state) => {
    const after = { ...threadOf(state), resolvedBy: resolved ? by.account.login : null }
    const reviewThreads = state.reviewThreads.map((one) => (one.id === threadId ? after : one))
    return [{ ...state, reviewThreads }, after]
  })
  const action = resolved ? 'resolved' : 'unresolved'
  tell({ kind: 'pull_request_review_thread', action, repository, pull, thread, sender: by.account })
  return thread
}
