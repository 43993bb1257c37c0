/** Changes that GitHub allows people and Apps and the code host alone does not: to existing reviews and comments, labels, and branches. */
import type { Host } from '../../../services/codehost/host.ts'
import { invalid, notFound, Refusal } from '../../../services/codehost/httpError.ts'
import { labelOf } from '../../../services/codehost/issues/issues.ts'
import { pullFault, pullRefused } from '../../../services/codehost/pulls/pullRequests.ts'
import {
  commentOf,
  mayWriteAs,
  refuseStranger,
  touched,
  unprocessable,
  type Target,
} from '../../../services/codehost/reviews/reviewRules.ts'
import { sameName, type Account } from '../../../services/codehost/state/accounts.ts'
import { mayPush, mayTriage } from '../../../services/codehost/state/permissions.ts'
import type { Actor } from '../../../services/codehost/state/actors.ts'
import type { Label } from '../../../services/codehost/state/issueRecords.ts'
import type { Review, ReviewComment } from '../../../services/codehost/state/reviewRecords.ts'
import type { Repository } from '../../../services/codehost/state/stateSchema.ts'

export interface Changes {
  /** Changes the text of a review. Throws Refusal 403 and 404. */
  editReview(repository: Repository, target: Target, by: Actor, body: string): Promise<Review>
  /** Dismisses an approval or a request for changes. Throws Refusal 403, 404, and 422 for a mere comment. */
  dismissReview(repository: Repository, target: Target, by: Actor, message: string): Promise<Review>
  /** Changes the text of a comment. Throws Refusal 403 and 404, as do both functions below. */
  editReviewComment(repository: Repository, id: number, by: Actor, body: string): Promise<ReviewComment>
  deleteReviewComment(repository: Repository, id: number, by: Actor): Promise<void>
  deleteComment(repository: Repository, id: number, by: Actor): Promise<void>
  /** Creates a label. Throws Refusal 404 to people who may not triage, and 422 for an existing name. */
  createLabel(
    repository: Repository,
    by: Actor,
    label: Pick<Label, 'name' | 'color' | 'description'>,
  ): Promise<Label>
  /** Merges the base branch into the head branch. Throws Refusal 403, 404, and 422 when that is impossible or changes nothing. */
  updateBranch(repository: Repository, number: number, by: Account, expectedHead?: string): Promise<void>
}

type Parts = Pick<Host, 'store' | 'repositories' | 'pulls' | 'reviews' | 'comments' | 'clock' | 'tell'>

export const createChanges = (parts: Parts): Changes => ({
  editReview: (repository, target, by, body) => editReview(parts, repository, target, by, body),
  dismissReview: (repository, target, by, message) => dismiss(parts, repository, target, by, message),
  editReviewComment: (repository, id, by, body) => editComment(parts, repository, id, by, body),
  deleteReviewComment: (repository, id, by) => deleteComment(parts, repository, id, by),
  deleteComment: (repository, id, by) => remove(parts, repository, id, by),
  createLabel: (repository, by, label) => createLabel(parts, repository, by, label),
  updateBranch: (repository, number, by, expectedHead) =>
    updateBranch(parts, repository, { number, by, expectedHead }),
})

async function editReview(
  parts: Parts,
  repository: Repository,
  target: Target,
  by: Actor,
  body: string,
): Promise<Review> {
  const before = parts.reviews.get(repository, target.number, target.id)
  refuseStranger(repository, by, before.author)
  if (body === '') throw unprocessable('Body can not be blank')
  const review = await changeReview(parts, repository, target, (now) => ({ body, editedAt: now }))
  const pull = parts.pulls.get(repository, target.number)
  const about = { repository, pull, review, before, sender: by.account }
  parts.tell({ ...about, kind: 'pull_request_review', action: 'edited' })
  return review
}

async function dismiss(
  parts: Parts,
  repository: Repository,
  target: Target,
  by: Actor,
  message: string,
): Promise<Review> {
  const before = parts.reviews.get(repository, target.number, target.id)
  if (!mayWriteAs(by, repository)) throw new Refusal(403, 'Must have push access to the repository.')
  if (before.state !== 'APPROVED' && before.state !== 'CHANGES_REQUESTED')
    throw unprocessable(`Can not dismiss a ${before.state.toLowerCase()} pull request review`)
  if (message === '') throw unprocessable('Message can not be blank')
  const review = await changeReview(parts, repository, target, () => ({ state: 'DISMISSED' }))
  const pull = parts.pulls.get(repository, target.number)
  const about = { repository, pull, review, sender: by.account }
  parts.tell({ ...about, kind: 'pull_request_review', action: 'dismissed' })
  return review
}

const changeReview = (
  { store, pulls, reviews: { get }, clock }: Parts,
  repository: Repository,
  target: Target,
  change: (now: string) => Partial<Review>,
): Promise<Review> =>
  store.update((state) => {
    const now = clock.now().toISOString()
    const after = { ...get(repository, target.number, target.id), ...change(now), updatedAt: now }
    const reviews = state.reviews.map((one) => (one.id === after.id ? after : one))
    return [touched({ ...state, reviews }, pulls.get(repository, target.number), now), after]
  })

async function editComment(
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

async function deleteComment(
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

async function remove(
  { store, pulls, comments, tell }: Parts,
  repository: Repository,
  id: number,
  { account: sender }: Actor,
): Promise<void> {
  const comment = comments.get(repository, id)
  if (!sameName(comment.author, sender.login) && !mayPush(sender, repository))
    throw new Refusal(403, 'Must have admin rights to Repository.')
  await store.update((state) => [
    { ...state, issueComments: state.issueComments.filter((one) => one.id !== id) },
    undefined,
  ])
  const isPull = pulls.of(repository).some(({ number }) => number === comment.number)
  tell({ kind: 'issue_comment', action: 'deleted', repository, comment, isPull, sender })
}

async function createLabel(
  { store }: Parts,
  repository: Repository,
  by: Actor,
  label: Pick<Label, 'name' | 'color' | 'description'>,
): Promise<Label> {
  if (!mayTriage(by.account, repository)) throw notFound()
  return store.update((state) => {
    if (labelOf(state, repository, label.name))
      throw invalid({ resource: 'Label', field: 'name', code: 'already_exists' })
    const made: Label = { ...label, id: state.nextTextId, repositoryId: repository.id }
    return [{ ...state, nextTextId: state.nextTextId + 1, labels: [...state.labels, made] }, made]
  })
}

async function updateBranch(
  parts: Parts,
  repository: Repository,
  wanted: { readonly number: number; readonly by: Account; readonly expectedHead: string | undefined },
): Promise<void> {
  const { number, by, expectedHead } = wanted
  await parts.repositories.notice(repository)
  await parts.repositories.exclusively(repository, async () => {
    const pull = parts.pulls.get(repository, number)
    if (!mayPush(by, repository)) throw new Refusal(403, 'Must have push access to the repository.')
    const bare = parts.repositories.bare(repository)
    const branches = await bare.branches()
    const [head, base] = [branches.get(pull.head), branches.get(pull.base)]
    if (pull.closedAt !== null || !head || !base) throw invalid(pullFault('state'))
    if (expectedHead !== undefined && expectedHead !== head)
      throw invalid(pullRefused('expected head sha didn’t match current head ref.'))
    if (await bare.isAncestor(base, head))
      throw invalid(pullRefused('There are no new commits on the base branch.'))
    const merged = await bare.mergeTree(head, base)
    if (merged.kind === 'conflict') throw invalid(pullRefused('merge conflict between base and head'))
    const message = `Merge branch '${pull.base}' into ${pull.head}\n`
    const made = { tree: merged.tree, parents: [head, base], message, by, at: parts.clock.now() }
    if (!(await bare.updateRef(`refs/heads/${pull.head}`, await bare.commitTree(made), head)))
      throw invalid(pullRefused('expected head sha didn’t match current head ref.'))
  })
  await parts.repositories.settle(repository, by)
}
