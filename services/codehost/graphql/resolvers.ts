/** How the fields of the schema are answered: by the same records as the REST API, with the same ids. */
import { GraphQLError } from 'graphql'
import { accountOf, mayRead, type Account } from '../accounts.ts'
import { Refusal } from '../httpError.ts'
import { nodeId, time } from '../rest/answers.ts'
import type { Host } from '../services.ts'
import type { PullRequest, Repository } from '../state.ts'

/** What a request is answered with: the host, who asks, and where they find the host. */
export interface Asking {
  readonly host: Host
  readonly viewer: Account
  readonly origin: string
}

/** As many as GitHub takes in one list of ids. */
const mostNodes = 100

/** An error of one field: the others are answered. */
const failed = (type: 'NOT_FOUND' | 'FORBIDDEN' | 'UNPROCESSABLE', message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { type } })

export const root = {
  viewer: (_: unknown, { viewer }: Asking) => user(viewer),
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
}

interface DraftArguments {
  readonly input: { readonly pullRequestId: string; readonly clientMutationId?: string | null }
}

async function setDraft({ input }: DraftArguments, asking: Asking, draft: boolean) {
  const { host, viewer } = asking
  const found = pullRequestWith(asking, input.pullRequestId)
  const changed = await host.pulls
    .setDraft(found.repository, found.pull.number, viewer, draft)
    .catch((fault: unknown) => {
      if (!(fault instanceof Refusal)) throw fault
      throw failed(fault.status === 403 ? 'FORBIDDEN' : 'UNPROCESSABLE', fault.message)
    })
  return {
    clientMutationId: input.clientMutationId ?? null,
    pullRequest: pullRequest(asking, found.repository, changed),
  }
}

function nodeOf(asking: Asking, id: string) {
  const { viewer } = asking
  if (id === nodeId('User', viewer.id)) return user(viewer)
  const found = pullRequestWith(asking, id)
  return pullRequest(asking, found.repository, found.pull)
}

function pullRequestWith({ host, viewer }: Asking, id: string) {
  const { pullRequests, repositories } = host.store.current()
  const pull = pullRequests.find((one) => nodeId('PullRequest', one.id) === id)
  const of = pull && repositories.find((one) => one.id === pull.repositoryId)
  if (!pull || !of || !mayRead(viewer, of))
    throw failed('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'.`)
  return { pull, repository: of }
}

const user = ({ id, login, name }: Account) => ({
  __typename: 'User',
  id: nodeId('User', id),
  databaseId: id,
  login,
  name,
})

function repository(asking: Asking, { id, owner, name }: Repository): object {
  return {
    __typename: 'Repository',
    id: nodeId('Repository', id),
    databaseId: id,
    name,
    nameWithOwner: `${owner}/${name}`,
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
  return {
    __typename: 'PullRequest',
    id: nodeId('PullRequest', pull.id),
    number: pull.number,
    title: pull.title,
    url: `${asking.origin}/${of.owner}/${of.name}/pull/${pull.number}`,
    state: merged ? 'MERGED' : pull.closedAt === null ? 'OPEN' : 'CLOSED',
    isDraft: pull.draft,
    merged: merged !== null,
    mergedAt: merged && time(merged.at),
    mergedBy: by ? user(by) : null,
    createdAt: time(pull.createdAt),
    updatedAt: time(pull.updatedAt),
    closedAt: pull.closedAt === null ? null : time(pull.closedAt),
    headRefName: pull.head,
    headRefOid: pull.headSha,
    baseRefName: pull.base,
    repository: () => repository(asking, of),
  }
}
