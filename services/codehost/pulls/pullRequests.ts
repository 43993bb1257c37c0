/** Pull requests between branches of one repository. */
import type { Clock } from '#platform/ports/clock.ts'
import type { Account } from '../state/accounts.ts'
import { mayPush } from '../state/permissions.ts'
import { invalid, notFound, Refusal, type FieldFault } from '../httpError.ts'
import type { Repositories } from '../repositories/repositories.ts'
import type { MergeRequirements } from './mergeState.ts'
import type { Issues } from '../issues/issues.ts'
import { nextNumber } from '../issues/numbers.ts'
import type { PullRequest, Repository, State } from '../state/stateSchema.ts'
import type { Store } from '../state/store.ts'
import type { HostEvent, PullRequestAction } from '../state/events.ts'
import { headRef } from '../repositories/syncPullRequests.ts'

export interface NewPullRequest {
  readonly title: string
  readonly body: string | null
  /** The branch to merge, written as `branch` or `owner:branch`. */
  readonly head: string
  readonly base: string
  readonly draft: boolean
}

export interface PullRequestEdit {
  readonly title?: string | undefined
  readonly body?: string | null | undefined
  readonly state?: 'open' | 'closed' | undefined
  readonly base?: string | undefined
}

/** Numbers about a pull request, which are read from git on each request. `mergeable` is `null` for a closed pull request. */
export interface PullRequestFigures {
  readonly commits: number
  readonly additions: number
  readonly deletions: number
  readonly changedFiles: number
  readonly mergeable: boolean | null
}

export interface MergeRequest {
  readonly method: 'merge' | 'squash'
  readonly title?: string | undefined
  readonly message?: string | undefined
  /** The head commit that the person saw. If the head is now another commit, the merge is refused. */
  readonly expectedHead?: string | undefined
}

export interface PullRequests {
  of(repository: Repository): readonly PullRequest[]
  /** Returns a pull request. Throws Refusal 404. */
  get(repository: Repository, number: number): PullRequest
  /** Opens a pull request. Throws Refusal 422 with GitHub's reasons, and 403 when `author` may not push. */
  open(repository: Repository, author: Account, request: NewPullRequest): Promise<PullRequest>
  /** Changes a pull request. Throws Refusal 403, 404 and 422. */
  edit(repository: Repository, number: number, by: Account, edit: PullRequestEdit): Promise<PullRequest>
  /** Makes the pull request a draft, or ready for review. Throws Refusal 403 and 404, and 422 when the pull request is closed. */
  setDraft(repository: Repository, number: number, by: Account, draft: boolean): Promise<PullRequest>
  /**
   * Merges as `by`, and returns the hash of the commit. Throws Refusal 403 and 404, 405 when the pull request cannot be merged, and 409 when a branch
   * has moved.
   */
  merge(repository: Repository, number: number, by: Account, request: MergeRequest): Promise<string>
  figures(repository: Repository, pull: PullRequest): Promise<PullRequestFigures>
  standing(repository: Repository, pull: PullRequest): MergeRequirements
}

interface Pulls {
  readonly store: Store
  readonly repositories: Repositories
  readonly issues: Pick<Issues, 'closeMentioned'>
  readonly clock: Clock
  readonly standing: (repository: Repository, pull: PullRequest) => MergeRequirements
  readonly tell: (event: HostEvent) => void
}

export function createPullRequests(pulls: Pulls): PullRequests {
  return {
    of: (repository) => pullsOf(pulls, repository),
    get: (repository, number) => getPull(pulls, repository, number),
    open: (repository, author, request) => openPull(pulls, repository, author, request),
    edit: (repository, number, by, edit) => editPull(pulls, repository, number, by, edit),
    setDraft: (repository, number, by, draft) => setDraft(pulls, repository, number, by, draft),
    merge: (repository, number, by, request) => mergePull(pulls, repository, number, by, request),
    figures: (repository, pull) => figuresOf(pulls, repository, pull),
    standing: pulls.standing,
  }
}

function openPull(
  pulls: Pulls,
  repository: Repository,
  author: Account,
  request: NewPullRequest,
): Promise<PullRequest> {
  return pulls.repositories.exclusively(repository, async () => {
    if (!mayPush(author, repository)) {
      throw new Refusal(403, 'Only people who can push to the repository can open pull requests in it.')
    }
    const bare = pulls.repositories.bare(repository)
    const branches = await bare.branches()
    const head = headBranch(repository, request.head)
    const headSha = head === undefined ? undefined : branches.get(head)
    const baseSha = branches.get(request.base)
    if (head === undefined || headSha === undefined) throw invalid(pullFault('head'))
    if (baseSha === undefined) throw invalid(pullFault('base'))
    if ((await bare.count(baseSha, headSha)) === 0) {
      throw invalid(pullRefused(`No commits between ${request.base} and ${head}`))
    }
    const now = pulls.clock.now().toISOString()
    const opened = await pulls.store.update((state) => {
      if (openTwin(state, repository, head, request.base)) {
        throw invalid(pullRefused(`A pull request already exists for ${repository.owner}:${head}.`))
      }
      const number = nextNumber(state, repository)
      const pull: PullRequest = {
        ...request,
        id: state.nextPullRequestId,
        repositoryId: repository.id,
        number,
        author: author.login,
        labels: [],
        head,
        headSha,
        baseSha,
        createdAt: now,
        updatedAt: now,
        closedAt: null,
        merged: null,
      }
      return [
        {
          ...state,
          nextPullRequestId: state.nextPullRequestId + 1,
          pullRequests: [...state.pullRequests, pull],
        },
        pull,
      ]
    })
    await bare.updateRef(headRef(opened.number), headSha)
    pulls.tell({ kind: 'pull_request', action: 'opened', repository, pull: opened, sender: author })
    return opened
  })
}

function editPull(
  pulls: Pulls,
  repository: Repository,
  number: number,
  by: Account,
  edit: PullRequestEdit,
): Promise<PullRequest> {
  return pulls.repositories.exclusively(repository, async () => {
    const pull = getPull(pulls, repository, number)
    if (!mayPush(by, repository) && pull.author !== by.login) {
      throw new Refusal(403, 'Must have admin rights to Repository.')
    }
    const branches = await pulls.repositories.bare(repository).branches()
    const base = edit.base ?? pull.base
    const baseSha = branches.get(base)
    if (edit.base !== undefined && (baseSha === undefined || pull.merged)) throw invalid(pullFault('base'))
    const headSha = branches.get(pull.head)
    if (edit.state === 'open' && pull.closedAt !== null && (pull.merged || !headSha || !baseSha)) {
      throw invalid(pullFault('state'))
    }
    const twin = openTwin(pulls.store.current(), repository, pull.head, base)
    if (edit.state !== 'closed' && twin && twin.id !== pull.id) {
      throw invalid(pullRefused(`A pull request already exists for ${repository.owner}:${pull.head}.`))
    }
    const now = pulls.clock.now().toISOString()
    const edited = await replacePull(pulls, pull.id, (before) => {
      const isOpen = (edit.state ?? (before.closedAt === null ? 'open' : 'closed')) === 'open'
      return {
        ...before,
        title: edit.title ?? before.title,
        body: edit.body === undefined ? before.body : edit.body,
        base,
        ...(isOpen && headSha && baseSha ? { headSha, baseSha } : {}),
        closedAt: isOpen ? null : (before.closedAt ?? now),
        updatedAt: now,
      }
    })
    for (const action of editActions(pull, edited))
      pulls.tell({ kind: 'pull_request', action, repository, pull: edited, before: pull, sender: by })
    return edited
  })
}

function editActions(before: PullRequest, after: PullRequest): readonly PullRequestAction[] {
  const isEdited = before.title !== after.title || before.body !== after.body || before.base !== after.base
  const [was, is] = [before.closedAt === null, after.closedAt === null]
  return [
    ...(isEdited ? (['edited'] as const) : []),
    ...(was === is ? [] : ([is ? 'reopened' : 'closed'] as const)),
  ]
}

function setDraft(
  pulls: Pulls,
  repository: Repository,
  number: number,
  by: Account,
  draft: boolean,
): Promise<PullRequest> {
  return pulls.repositories.exclusively(repository, async () => {
    const pull = getPull(pulls, repository, number)
    if (!mayPush(by, repository)) throw new Refusal(403, 'Must have push access to the repository.')
    if (pull.closedAt !== null) throw new Refusal(422, 'Pull request is closed.')
    if (pull.draft === draft) return pull
    const updatedAt = pulls.clock.now().toISOString()
    const changed = await replacePull(pulls, pull.id, (before) => ({ ...before, draft, updatedAt }))
    const action = draft ? 'converted_to_draft' : 'ready_for_review'
    pulls.tell({ kind: 'pull_request', action, repository, pull: changed, sender: by })
    return changed
  })
}

async function mergePull(
  pulls: Pulls,
  repository: Repository,
  number: number,
  by: Account,
  request: MergeRequest,
): Promise<string> {
  await pulls.repositories.notice(repository)
  const commit = await pulls.repositories.exclusively(repository, async () => {
    const pull = getPull(pulls, repository, number)
    if (!mayPush(by, repository)) throw new Refusal(403, 'Must have push access to the repository.')
    if (pull.closedAt !== null) throw new Refusal(405, 'Pull Request is not mergeable')
    if (pull.draft) throw new Refusal(405, 'Pull Request is still a draft')
    const { decision } = pulls.standing(repository, pull)
    if (decision !== null && decision !== 'APPROVED')
      throw new Refusal(405, 'An approving review is required by reviewers with write access.')
    const bare = pulls.repositories.bare(repository)
    const branches = await bare.branches()
    const headSha = branches.get(pull.head)
    const baseSha = branches.get(pull.base)
    if (!headSha || !baseSha) throw new Refusal(405, 'Pull Request is not mergeable')
    if (request.expectedHead !== undefined && request.expectedHead !== headSha) {
      throw new Refusal(409, 'Head branch was modified. Review and try the merge again.')
    }
    const merged = await bare.mergeTree(baseSha, headSha)
    if (merged.kind === 'conflict') throw new Refusal(405, conflictSentence(pull, merged.conflicts))
    const sha = await bare.commitTree({
      tree: merged.tree,
      parents: request.method === 'merge' ? [baseSha, headSha] : [baseSha],
      message: mergeMessage(repository, pull, request),
      by,
      at: pulls.clock.now(),
    })
    if (!(await bare.updateRef(`refs/heads/${pull.base}`, sha, baseSha))) {
      throw new Refusal(409, 'Base branch was modified. Review and try the merge again.')
    }
    const now = pulls.clock.now().toISOString()
    const done = await replacePull(pulls, pull.id, (before) => ({
      ...before,
      headSha,
      baseSha,
      closedAt: now,
      updatedAt: now,
      merged: { at: now, by: by.login, commit: sha },
    }))
    pulls.tell({ kind: 'pull_request', action: 'closed', repository, pull: done, sender: by })
    await pulls.issues.closeMentioned(repository, done, { account: by, viaApp: null })
    return sha
  })
  await pulls.repositories.settle(repository, by)
  return commit
}

async function figuresOf(
  pulls: Pulls,
  repository: Repository,
  pull: PullRequest,
): Promise<PullRequestFigures> {
  const bare = pulls.repositories.bare(repository)
  const [commits, size, merged] = await Promise.all([
    bare.count(pull.baseSha, pull.headSha),
    bare.diffSize(pull.baseSha, pull.headSha),
    pull.closedAt === null ? bare.mergeTree(pull.baseSha, pull.headSha) : undefined,
  ])
  return {
    commits,
    additions: size.additions,
    deletions: size.deletions,
    changedFiles: size.files,
    mergeable: merged ? merged.kind === 'clean' : null,
  }
}

function pullsOf(pulls: Pulls, repository: Repository) {
  return pulls.store.current().pullRequests.filter((pull) => pull.repositoryId === repository.id)
}

function getPull(pulls: Pulls, repository: Repository, number: number) {
  const pull = pullsOf(pulls, repository).find((one) => one.number === number)
  if (!pull) throw notFound()
  return pull
}

function replacePull(pulls: Pulls, id: number, next: (pull: PullRequest) => PullRequest) {
  return pulls.store.update((state) => {
    const before = state.pullRequests.find((pull) => pull.id === id)
    if (!before) throw notFound()
    const after = next(before)
    const pullRequests = state.pullRequests.map((pull) => (pull.id === id ? after : pull))
    return [{ ...state, pullRequests }, after]
  })
}

export const pullFault = (field: string): FieldFault => ({ resource: 'PullRequest', field, code: 'invalid' })
export const pullRefused = (message: string): FieldFault => ({
  resource: 'PullRequest',
  code: 'custom',
  message,
})

/** The branch in `head`, which may name the owner too; `undefined` for another owner, since this code host has no forks. */
function headBranch(repository: Repository, head: string): string | undefined {
  const [, owner, branch] = /^([^:]*):(.*)$/s.exec(head) ?? []
  if (owner === undefined) return head
  return owner.toLowerCase() === repository.owner.toLowerCase() ? branch : undefined
}

const openTwin = (state: State, repository: Repository, head: string, base: string) =>
  state.pullRequests.find(
    (pull) =>
      pull.repositoryId === repository.id &&
      pull.closedAt === null &&
      pull.head === head &&
      pull.base === base,
  )

function conflictSentence(pull: PullRequest, files: readonly string[]): string {
  if (files.length === 0) return `${pull.base} and ${pull.head} have no common history.`
  const [first = '', ...others] = files
  const rest =
    others.length === 0 ? '' : ` and ${others.length} more ${others.length === 1 ? 'file' : 'files'}`
  return `${pull.head} and ${pull.base} both changed ${first}${rest}: bring ${pull.base} into ${pull.head} and resolve the conflict there.`
}

function mergeMessage(repository: Repository, pull: PullRequest, request: MergeRequest): string {
  const ofMerge = `Merge pull request #${pull.number} from ${repository.owner}/${pull.head}`
  const ofSquash = `${pull.title} (#${pull.number})`
  const title = request.title ?? (request.method === 'merge' ? ofMerge : ofSquash)
  const message = request.message ?? (request.method === 'merge' ? pull.title : (pull.body ?? ''))
  return message === '' ? `${title}\n` : `${title}\n\n${message}\n`
}
