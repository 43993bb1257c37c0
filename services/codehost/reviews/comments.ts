/** Comments on pull requests and issues. As on GitHub, comments on pull requests are handled like comments on issues. */
import type { Clock } from '#platform/ports/clock.ts'
import { sameName } from '../state/accounts.ts'
import { mayPush } from '../state/permissions.ts'
import type { Actor } from '../state/actors.ts'
import { invalid, notFound, Refusal } from '../httpError.ts'
import { touchedNumber } from '../issues/numbers.ts'
import type { Repository, State } from '../state/stateSchema.ts'
import type { Store } from '../state/store.ts'
import type { HostEvent } from '../state/events.ts'
import { mostTexts, type IssueComment } from '../state/reviewRecords.ts'

export interface Comments {
  /** The comments on a pull request or issue; without `number`, on all of the repository. Comments on lines are not among them. */
  of(repository: Repository, number?: number): readonly IssueComment[]
  /** Throws Refusal 404 when the repository has no comment with this id. */
  get(repository: Repository, id: number): IssueComment
  /** Adds a comment. Throws Refusal 404 when no issue or pull request has this number, and 422 when it has too many comments. */
  add(repository: Repository, number: number, by: Actor, body: string): Promise<IssueComment>
  /** Changes a comment. Throws Refusal 404 when there is none, and 403 when the actor is neither its author nor may push. */
  edit(repository: Repository, id: number, by: Actor, body: string): Promise<IssueComment>
}

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly tell: (event: HostEvent) => void
}

export function createComments(parts: Parts): Comments {
  return {
    of: (repository, number) =>
      parts.store
        .current()
        .issueComments.filter(
          (one) => one.repositoryId === repository.id && (number === undefined || one.number === number),
        ),
    get: (repository, id) => commentOf(parts.store.current(), repository, id),
    add: (repository, number, by, body) => add(parts, repository, number, by, body),
    edit: (repository, id, by, body) => edit(parts, repository, id, by, body),
  }
}

function commentOf(state: State, repository: Repository, id: number): IssueComment {
  const found = state.issueComments.find((one) => one.repositoryId === repository.id && one.id === id)
  if (!found) throw notFound()
  return found
}

function refuseStranger(repository: Repository, { account }: Actor, author: string): void {
  const mayEdit = sameName(author, account.login) || mayPush(account, repository)
  if (!mayEdit) throw new Refusal(403, 'Must have admin rights to Repository.')
}

async function add(
  parts: Parts,
  repository: Repository,
  number: number,
  by: Actor,
  body: string,
): Promise<IssueComment> {
  const { store, clock } = parts
  const now = clock.now().toISOString()
  const comment = await store.update((state) => {
    const here = state.issueComments.filter(
      (one) => one.repositoryId === repository.id && one.number === number,
    )
    if (here.length >= mostTexts) {
      const message = `There are ${mostTexts} comments here, the most there may be.`
      throw invalid({ resource: 'IssueComment', code: 'custom', message })
    }
    const made: IssueComment = {
      id: state.nextTextId,
      repositoryId: repository.id,
      number,
      author: by.account.login,
      viaApp: by.viaApp,
      body,
      createdAt: now,
      updatedAt: now,
      editedAt: null,
      editedBy: null,
    }
    const next = {
      ...state,
      nextTextId: state.nextTextId + 1,
      issueComments: [...state.issueComments, made],
    }
    return [touched(next, repository, number, now), made]
  })
  tellComment(parts, repository, by, { action: 'created', comment })
  return comment
}

/** Sets the time of the last change of an issue or pull request. Throws Refusal 404 when none has this number. */
function touched(state: State, repository: Repository, number: number, now: string): State {
  const next = touchedNumber(state, repository, number, now)
  if (!next) throw notFound()
  return next
}

async function edit(
  parts: Parts,
  repository: Repository,
  id: number,
  by: Actor,
  body: string,
): Promise<IssueComment> {
  const { store, clock } = parts
  const before = commentOf(store.current(), repository, id)
  refuseStranger(repository, by, before.author)
  const comment = await store.update((state) => {
    const now = clock.now().toISOString()
    const edit = { editedAt: now, editedBy: by.account.login }
    const after = { ...commentOf(state, repository, id), ...edit, body, updatedAt: now }
    const issueComments = state.issueComments.map((one) => (one.id === id ? after : one))
    return [touched({ ...state, issueComments }, repository, after.number, now), after]
  })
  tellComment(parts, repository, by, { action: 'edited', comment, before })
  return comment
}

type CommentEvent = Extract<HostEvent, { kind: 'issue_comment' }>

function tellComment(
  { store, tell }: Parts,
  repository: Repository,
  { account: sender }: Actor,
  event: Pick<CommentEvent, 'action' | 'comment' | 'before'>,
): void {
  const isPull = store
    .current()
    .pullRequests.some(
      ({ repositoryId, number }) => repositoryId === repository.id && number === event.comment.number,
    )
  tell({ ...event, kind: 'issue_comment', repository, isPull, sender })
}
