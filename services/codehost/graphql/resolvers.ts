/** Resolves the fields of the schema, from the same records as the REST API and with the same ids. */
import { mergeStateOf } from '../pulls/standing.ts'
import { nodeId, time } from '../rest/answers.ts'
import { mayRead } from '../state/accounts.ts'
import type { Issue } from '../state/issueRecords.ts'
import type { PullRequest, Repository } from '../state/state.ts'
import { accountNamed, done, failed, guard, type Asking } from './asking.ts'
import { commitsOf } from './commit.ts'
import type { PageArguments } from './connections.ts'
import { issueComment, reviewThread, talkOf } from './talk.ts'

/** GitHub accepts at most this many ids in one list. */
const maxNodes = 100

export const root = {
  node: ({ id }: { id: string }, asking: Asking) => nodeOf(asking, id),
  nodes: ({ ids }: { ids: readonly string[] }, asking: Asking) => {
    if (ids.length > maxNodes)
      throw failed(
        'UNPROCESSABLE',
        `You may not provide more than ${maxNodes} node ids; you provided ${ids.length}.`,
      )
    // Resolves each id on its own, so that a missing one does not fail the others.
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
  readonly input: { readonly threadId: string }
}

async function setResolved({ input }: ThreadArguments, asking: Asking, resolved: boolean) {
  const { found, of } = foundWith(asking, 'PullRequestReviewThread', input.threadId)
  guard(asking, of)
  const changed = await done(asking.host.reviews.setResolved(of, found.id, asking.actor, resolved))
  return { thread: reviewThread(asking, of, changed) }
}

interface DraftArguments {
  readonly input: { readonly pullRequestId: string }
}

async function setDraft({ input }: DraftArguments, asking: Asking, draft: boolean) {
  const { found, of } = foundWith(asking, 'PullRequest', input.pullRequestId)
  guard(asking, of)
  const changed = await done(asking.host.pulls.setDraft(of, found.number, asking.viewer, draft))
  return { pullRequest: pullRequest(asking, of, changed) }
}

/** The types of objects that can be requested by id. */
const kinds = ['Issue', 'IssueComment', 'PullRequestReviewThread', 'PullRequest'] as const

function recordsOf({ host }: Asking) {
  const { issues, issueComments, reviewThreads, pullRequests } = host.store.current()
  return {
    Issue: issues,
    IssueComment: issueComments,
    PullRequestReviewThread: reviewThreads,
    PullRequest: pullRequests,
  }
}
type Records = ReturnType<typeof recordsOf>

/** The record with this id, and its repository. Throws a field error when the caller may not see it. */
function foundWith<Kind extends keyof Records>(asking: Asking, kind: Kind, id: string) {
  const all: readonly Records[Kind][number][] = recordsOf(asking)[kind]
  const found = all.find((one) => nodeId(kind, one.id) === id)
  const of = asking.host.store.current().repositories.find((one) => one.id === found?.repositoryId)
  if (!found || !of || !mayRead(asking.viewer, of))
    throw failed('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'.`)
  return { found, of }
}

function nodeOf(asking: Asking, id: string) {
  const all = recordsOf(asking)
  const kind = kinds.find((one) => all[one].some((record) => nodeId(one, record.id) === id)) ?? 'PullRequest'
  switch (kind) {
    case 'Issue':
      return issue(foundWith(asking, kind, id).found)
    case 'IssueComment':
      return issueComment(foundWith(asking, kind, id).found)
    case 'PullRequestReviewThread': {
      const { found, of } = foundWith(asking, kind, id)
      return reviewThread(asking, of, found)
    }
    case 'PullRequest': {
      const { found, of } = foundWith(asking, kind, id)
      return pullRequest(asking, of, found)
    }
  }
}

const issue = (one: Issue): object => ({
  __typename: 'Issue',
  id: nodeId('Issue', one.id),
  title: one.title,
  body: one.body ?? '',
  author: accountNamed(one.author),
  state: one.closed === null ? 'OPEN' : 'CLOSED',
  lastEditedAt: one.editedAt === null ? null : time(one.editedAt),
  editor: one.editedBy === null ? null : accountNamed(one.editedBy),
})

const repository = (asking: Asking, of: Repository): object => ({
  __typename: 'Repository',
  id: nodeId('Repository', of.id),
  databaseId: of.id,
  nameWithOwner: `${of.owner}/${of.name}`,
  pullRequest: ({ number }: { number: number }) => {
    const pull = asking.host.pulls.of(of).find((one) => one.number === number)
    if (!pull) throw failed('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`)
    return pullRequest(asking, of, pull)
  },
})

function pullRequest(asking: Asking, of: Repository, pull: PullRequest): object {
  const { pulls } = asking.host
  const { merged } = pull
  const mergeable = async () => (await pulls.figures(of, pull)).mergeable
  return {
    __typename: 'PullRequest',
    id: nodeId('PullRequest', pull.id),
    number: pull.number,
    title: pull.title,
    body: pull.body ?? '',
    author: accountNamed(pull.author),
    state: merged ? 'MERGED' : pull.closedAt === null ? 'OPEN' : 'CLOSED',
    isDraft: pull.draft,
    isCrossRepository: false,
    mergedAt: merged && time(merged.at),
    mergedBy: merged?.by ? accountNamed(merged.by) : null,
    updatedAt: time(pull.updatedAt),
    headRefOid: pull.headSha,
    reviewDecision: () => pulls.standing(of, pull).decision,
    mergeable: async () => mergeability(await mergeable()),
    mergeStateStatus: async () => mergeStateOf(pull, await mergeable(), pulls.standing(of, pull)),
    commits: (args: PageArguments) => commitsOf(asking, of, pull, args),
    ...talkOf(asking, of, pull),
    repository: () => repository(asking, of),
  }
}

const mergeability = (mergeable: boolean | null): string =>
  mergeable === null ? 'UNKNOWN' : mergeable ? 'MERGEABLE' : 'CONFLICTING'
