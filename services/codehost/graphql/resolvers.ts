/** How the fields of the schema are answered: by the same records as the REST API, with the same ids. */
import { accountOf, mayRead } from '../accounts.ts'
import { associationOf } from '../actors.ts'
import { refuseArchived } from '../lifecycle.ts'
import { nodeId, time } from '../rest/answers.ts'
import type { Issue } from '../issues/records.ts'
import type { PullRequest, Repository } from '../state.ts'
import { account, accountNamed, done, failed, require, type Asking } from './asking.ts'
import { commit, commitsOf } from './commit.ts'
import type { PageArguments } from './connections.ts'
import { mergeStateOf, reviewDecisionOf } from '../reviews/decision.ts'
import { issueComment, reviewThread, talkOf } from './talk.ts'

/** As many as GitHub takes in one list of ids. */
const mostNodes = 100

export const root = {
  viewer: (_: unknown, { viewer }: Asking) => account(viewer),
  node: ({ id }: { id: string }, asking: Asking) => nodeOf(asking, id),
  nodes: ({ ids }: { ids: readonly string[] }, asking: Asking) => {
    if (ids.length > mostNodes)
      throw failed(
        'UNPROCESSABLE',
        `You may not provide more than ${mostNodes} node ids; you provided ${ids.length}.`,
      )
    // Each for itself: one that is missing does not take the others with it.
    return ids.map(async (id) => nodeOf(asking, id))
  },
  repository: ({ owner, name }: { owner: string; name: string }, asking: Asking) => {
    const found = asking.host.repositories.find(owner, name)
    if (!found || !mayRead(asking.viewer, found))
      throw failed('NOT_FOUND', `Could not resolve to a Repository with the name '${owner}/${name}'.`)
    return repository(asking, found)
  },
  convertPullRequestToDraft: (args: DraftArguments, asking: Asking) => setDraft(args, asking, true),
  markPullRequestReadyForReview: (args: DraftArguments, asking: Asking) => setDraft(args, asking, false),
  resolveReviewThread: (args: ThreadArguments, asking: Asking) => setResolved(args, asking, true),
  unresolveReviewThread: (args: ThreadArguments, asking: Asking) => setResolved(args, asking, false),
}

interface ThreadArguments {
  readonly input: { readonly threadId: string; readonly clientMutationId?: string | null }
}

async function setResolved({ input }: ThreadArguments, asking: Asking, resolved: boolean) {
  const { host, actor } = asking
  const { of, thread } = threadWith(asking, input.threadId)
  await done(Promise.resolve().then(() => refuseArchived(of.repository)))
  require(asking, of.repository, { contents: 'write', pull_requests: 'write' })
  const changed = await done(host.reviews.setResolved(of.repository, thread.id, actor, resolved))
  return {
    clientMutationId: input.clientMutationId ?? null,
    thread: reviewThread(asking, of, changed, () => pullRequest(asking, of.repository, of.pull)),
  }
}

function threadWith({ host, viewer }: Asking, id: string) {
  const { reviewThreads, repositories } = host.store.current()
  const thread = reviewThreads.find((one) => nodeId('PullRequestReviewThread', one.id) === id)
  const of = thread && repositories.find((one) => one.id === thread.repositoryId)
  if (!thread || !of || !mayRead(viewer, of))
    throw failed('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'.`)
  return { of: { repository: of, pull: host.pulls.get(of, thread.number) }, thread }
}

interface DraftArguments {
  readonly input: { readonly pullRequestId: string; readonly clientMutationId?: string | null }
}

async function setDraft({ input }: DraftArguments, asking: Asking, draft: boolean) {
  const { host, viewer } = asking
  const found = pullRequestWith(asking, input.pullRequestId)
  await done(Promise.resolve().then(() => refuseArchived(found.repository)))
  require(asking, found.repository, { contents: 'write', pull_requests: 'write' })
  const changed = await done(host.pulls.setDraft(found.repository, found.pull.number, viewer, draft))
  return {
    clientMutationId: input.clientMutationId ?? null,
    pullRequest: pullRequest(asking, found.repository, changed),
  }
}

function nodeOf(asking: Asking, id: string) {
  const { viewer } = asking
  if (id === nodeId(viewer.type, viewer.id)) return account(viewer)
  if (isThread(asking, id)) {
    const { of, thread } = threadWith(asking, id)
    return reviewThread(asking, of, thread, () => pullRequest(asking, of.repository, of.pull))
  }
  const said = saidWith(asking, id)
  if (said) return said
  const found = pullRequestWith(asking, id)
  return pullRequest(asking, found.repository, found.pull)
}

/** The issue, or comment below one or a pull request, with this id. */
function saidWith(asking: Asking, id: string): object | undefined {
  const { host, viewer } = asking
  const { issues, issueComments, repositories, pullRequests } = host.store.current()
  const of = (repositoryId: number) =>
    repositories.find((one) => one.id === repositoryId && mayRead(viewer, one))
  const found = issues.find((one) => nodeId('Issue', one.id) === id)
  if (found) return of(found.repositoryId) && issue(asking, found)
  const comment = issueComments.find((one) => nodeId('IssueComment', one.id) === id)
  const where = comment && of(comment.repositoryId)
  if (!where) return undefined
  const pull = pullRequests.find((one) => one.repositoryId === where.id && one.number === comment.number)
  return issueComment(asking, { repository: where, ...(pull ? { pull } : {}) }, comment)
}

function issue({ origin, host }: Asking, one: Issue): object {
  const of = host.store.current().repositories.find(({ id }) => id === one.repositoryId)
  return {
    __typename: 'Issue',
    id: nodeId('Issue', one.id),
    databaseId: one.id,
    number: one.number,
    title: one.title,
    body: one.body ?? '',
    author: accountNamed(one.author),
    state: one.closed === null ? 'OPEN' : 'CLOSED',
    createdAt: time(one.createdAt),
    updatedAt: time(one.updatedAt),
    lastEditedAt: one.editedAt === null ? null : time(one.editedAt),
    editor: one.editedBy === null ? null : accountNamed(one.editedBy),
    includesCreatedEdit: one.editedAt !== null,
    url: `${origin}/${of?.owner}/${of?.name}/issues/${one.number}`,
  }
}

const isThread = ({ host }: Asking, id: string): boolean =>
  host.store.current().reviewThreads.some((one) => nodeId('PullRequestReviewThread', one.id) === id)

function pullRequestWith({ host, viewer }: Asking, id: string) {
  const { pullRequests, repositories } = host.store.current()
  const pull = pullRequests.find((one) => nodeId('PullRequest', one.id) === id)
  const of = pull && repositories.find((one) => one.id === pull.repositoryId)
  if (!pull || !of || !mayRead(viewer, of))
    throw failed('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'.`)
  return { pull, repository: of }
}

function repository(asking: Asking, { id, owner, name }: Repository): object {
  return {
    __typename: 'Repository',
    id: nodeId('Repository', id),
    databaseId: id,
    name,
    nameWithOwner: `${owner}/${name}`,
    issue: ({ number }: { number: number }) => {
      const found = asking.host.store
        .current()
        .issues.find((one) => one.repositoryId === id && one.number === number)
      if (!found) throw failed('NOT_FOUND', `Could not resolve to an Issue with the number of ${number}.`)
      return issue(asking, found)
    },
    pullRequest: ({ number }: { number: number }) => {
      const of = asking.host.repositories.find(owner, name)
      const pull = of && asking.host.pulls.of(of).find((one) => one.number === number)
      if (!of || !pull)
        throw failed('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`)
      return pullRequest(asking, of, pull)
    },
  }
}

function pullRequest(asking: Asking, of: Repository, pull: PullRequest): object {
  const { merged } = pull
  const by = merged?.by ? accountOf(merged.by) : undefined
  const { host } = asking
  const figures = () => host.pulls.figures(of, pull)
  return {
    __typename: 'PullRequest',
    databaseId: pull.id,
    author: accountNamed(pull.author),
    authorAssociation: associationOf(host.store.current(), of, pull.author),
    body: pull.body ?? '',
    isCrossRepository: false,
    mergeCommit: merged?.commit ? commit(asking, of, merged.commit) : null,
    reviewDecision: () => reviewDecisionOf(host.store.current(), of, pull),
    mergeable: async () => mergeability((await figures()).mergeable),
    mergeStateStatus: async () => mergeStateOf(host.store.current(), of, pull, (await figures()).mergeable),
    commits: (args: PageArguments) => commitsOf(asking, of, pull, args),
    ...talkOf(asking, { repository: of, pull }, () => pullRequest(asking, of, pull)),
    id: nodeId('PullRequest', pull.id),
    number: pull.number,
    title: pull.title,
    url: `${asking.origin}/${of.owner}/${of.name}/pull/${pull.number}`,
    state: merged ? 'MERGED' : pull.closedAt === null ? 'OPEN' : 'CLOSED',
    isDraft: pull.draft,
    merged: merged !== null,
    mergedAt: merged && time(merged.at),
    mergedBy: by ? account(by) : null,
    createdAt: time(pull.createdAt),
    updatedAt: time(pull.updatedAt),
    closedAt: pull.closedAt === null ? null : time(pull.closedAt),
    headRefName: pull.head,
    headRefOid: pull.headSha,
    baseRefName: pull.base,
    repository: () => repository(asking, of),
  }
}

const mergeability = (mergeable: boolean | null): string =>
  mergeable === null ? 'UNKNOWN' : mergeable ? 'MERGEABLE' : 'CONFLICTING'
