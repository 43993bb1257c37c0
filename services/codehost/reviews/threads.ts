/** Threads of comments on lines: answering, changing and deleting comments, and resolving. */
import { sameName } from '../accounts.ts'
import type { Actor } from '../actors.ts'
import { notFound, Refusal } from '../httpError.ts'
import type { Repository, State } from '../state.ts'
import type { Review, ReviewComment, ReviewThread } from './records.ts'
import {
  commentOf,
  mayWriteAs,
  newText,
  refuseMore,
  refuseStranger,
  tellReview,
  touched,
  type Parts,
  type Target,
} from './texts.ts'

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
    // GitHub names the first comment of the thread, whichever was answered.
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

export async function editComment(
  { store, pulls, clock, tell }: Parts,
  repository: Repository,
  id: number,
  by: Actor,
  body: string,
): Promise<ReviewComment> {
  const before = commentOf(store.current(), repository, id)
  refuseStranger(repository, by, before.author)
  const pull = pulls.get(repository, before.number)
  const comment = await store.update((state) => {
    const now = clock.now().toISOString()
    const after = { ...commentOf(state, repository, id), body, updatedAt: now, editedAt: now }
    const reviewComments = state.reviewComments.map((one) => (one.id === id ? after : one))
    return [touched({ ...state, reviewComments }, pull, now), after]
  })
  const about = { repository, pull, comment, before, sender: by.account }
  tell({ ...about, kind: 'pull_request_review_comment', action: 'edited' })
  return comment
}

export async function deleteComment(
  { store, pulls, clock, tell }: Parts,
  repository: Repository,
  id: number,
  by: Actor,
): Promise<void> {
  const comment = commentOf(store.current(), repository, id)
  refuseStranger(repository, by, comment.author)
  const pull = pulls.get(repository, comment.number)
  await store.update((state) => {
    commentOf(state, repository, id)
    const reviewComments = state.reviewComments.filter((one) => one.id !== id)
    const lives = new Set(reviewComments.map(({ threadId }) => threadId))
    const reviewThreads = state.reviewThreads.filter((one) => lives.has(one.id))
    return [touched({ ...state, reviewComments, reviewThreads }, pull, clock.now().toISOString()), undefined]
  })
  tell({
    kind: 'pull_request_review_comment',
    action: 'deleted',
    repository,
    pull,
    comment,
    sender: by.account,
  })
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
