/** Resolves GraphQL's queries and mutations, from the same records and with the same ids as the REST API. */
import { mergeStateOf } from '../pulls/mergeState.ts'
import { nodeId, time } from '../rest/responses.ts'
import { mayRead } from '../state/permissions.ts'
import type { Issue } from '../state/issueRecords.ts'
import type { PullRequest, Repository } from '../state/stateSchema.ts'
import { accountNamed, done, failed, guard, type ResolverContext } from './context.ts'
import { commitsOf } from './commit.ts'
import type { PageArguments } from './connections.ts'
import { issueComment, reviewThread, conversationOf } from './conversation.ts'

/** GitHub accepts at most this many ids in one list. */
const maxNodes = 100

export const root = {
  node: ({ id }: { id: string }, context: ResolverContext) => nodeOf(context, id),
  nodes: ({ ids }: { ids: readonly string[] }, context: ResolverContext) => {
    if (ids.length > maxNodes)
      throw failed(
        'UNPROCESSABLE',
        `You may not provide more than ${maxNodes} node ids; you provided ${ids.length}.`,
      )
    // Each id is resolved on its own, so that an unknown id does not make the other ids fail.
    return ids.map(async (id) => nodeOf(context, id))
  },
  repository: ({ owner, name }: { owner: string; name: string }, context: ResolverContext) => {
    const found = context.host.repositories.find(owner, name)
    if (!found || !mayRead(context.viewer, found))
      throw failed('NOT_FOUND', `Could not resolve to a Repository with the name '${owner}/${name}'.`)
    return repository(context, found)
  },
  convertPullRequestToDraft: (args: DraftArguments, context: ResolverContext) =>
    setDraft(args, context, true),
  markPullRequestReadyForReview: (args: DraftArguments, context: ResolverContext) =>
    setDraft(args, context, false),
  resolveReviewThread: (args: ThreadArguments, context: ResolverContext) => setResolved(args, context, true),
  unresolveReviewThread: (args: ThreadArguments, context: ResolverContext) =>
    setResolved(args, context, false),
}

interface ThreadArguments {
  readonly input: { readonly threadId: string }
}

async function setResolved({ input }: ThreadArguments, context: ResolverContext, resolved: boolean) {
  const { found, of } = foundWith(context, 'PullRequestReviewThread', input.threadId)
  guard(context, of)
  const changed = await done(context.host.reviews.setResolved(of, found.id, context.actor, resolved))
  return { thread: reviewThread(context, of, changed) }
}

interface DraftArguments {
  readonly input: { readonly pullRequestId: string }
}

async function setDraft({ input }: DraftArguments, context: ResolverContext, draft: boolean) {
  const { found, of } = foundWith(context, 'PullRequest', input.pullRequestId)
  guard(context, of)
  const changed = await done(context.host.pulls.setDraft(of, found.number, context.viewer, draft))
  return { pullRequest: pullRequest(context, of, changed) }
}

/** The types of objects that can be requested by id. */
const kinds = ['Issue', 'IssueComment', 'PullRequestReviewThread', 'PullRequest'] as const

function recordsOf({ host }: ResolverContext) {
  const { issues, issueComments, reviewThreads, pullRequests } = host.store.current()
  return {
    Issue: issues,
    IssueComment: issueComments,
    PullRequestReviewThread: reviewThreads,
    PullRequest: pullRequests,
  }
}
type Records = ReturnType<typeof recordsOf>

/** The record with this id, and its repository. Throws a field error when there is no such record, and when the caller may not see it. */
function foundWith<Kind extends keyof Records>(context: ResolverContext, kind: Kind, id: string) {
  const all: readonly Records[Kind][number][] = recordsOf(context)[kind]
  const found = all.find((one) => nodeId(kind, one.id) === id)
  const of = context.host.store.current().repositories.find((one) => one.id === found?.repositoryId)
  if (!found || !of || !mayRead(context.viewer, of))
    throw failed('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'.`)
  return { found, of }
}

function nodeOf(context: ResolverContext, id: string) {
  const all = recordsOf(context)
  const kind = kinds.find((one) => all[one].some((record) => nodeId(one, record.id) === id)) ?? 'PullRequest'
  switch (kind) {
    case 'Issue':
      return issue(foundWith(context, kind, id).found)
    case 'IssueComment':
      return issueComment(foundWith(context, kind, id).found)
    case 'PullRequestReviewThread': {
      const { found, of } = foundWith(context, kind, id)
      return reviewThread(context, of, found)
    }
    case 'PullRequest': {
      const { found, of } = foundWith(context, kind, id)
      return pullRequest(context, of, found)
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

const repository = (context: ResolverContext, of: Repository): object => ({
  __typename: 'Repository',
  id: nodeId('Repository', of.id),
  databaseId: of.id,
  nameWithOwner: `${of.owner}/${of.name}`,
  pullRequest: ({ number }: { number: number }) => {
    const pull = context.host.pulls.of(of).find((one) => one.number === number)
    if (!pull) throw failed('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`)
    return pullRequest(context, of, pull)
  },
})

function pullRequest(context: ResolverContext, of: Repository, pull: PullRequest): object {
  const { pulls } = context.host
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
    commits: (args: PageArguments) => commitsOf(context, of, pull, args),
    ...conversationOf(context, of, pull),
    repository: () => repository(context, of),
  }
}

const mergeability = (mergeable: boolean | null): string =>
  mergeable === null ? 'UNKNOWN' : mergeable ? 'MERGEABLE' : 'CONFLICTING'
