/** Webhook payloads in the form of `@octokit/webhooks-examples`. */
import type { Extension } from '../../../../services/codehost/host.ts'
import { aboutOf } from '../../../../services/codehost/rest/repositories.ts'
import type { GitHubState } from '../state.ts'
import {
  organizationOf,
  ownerOf,
  type Account,
  type Owner,
} from '../../../../services/codehost/state/accounts.ts'
import type { Commit } from '../../../../services/codehost/git/bareRepository.ts'
import {
  fullRepository,
  labelAnswer,
  nodeId,
  organizationSimple,
  simplePullRequest,
  simpleUser,
  time,
  type FullRepository,
} from '../../../../services/codehost/rest/responses.ts'
import type { Store } from '../../../../services/codehost/state/store.ts'
import type { PullRequests } from '../../../../services/codehost/pulls/pullRequests.ts'
import type { Repositories } from '../../../../services/codehost/repositories/repositories.ts'
import type { PullRequest, Repository } from '../../../../services/codehost/state/stateSchema.ts'
import type { Reviews } from '../../../../services/codehost/reviews/reviews.ts'
import { aboutPull } from '../../../../services/codehost/state/actors.ts'
import { pullFigures } from '../rest/pullFigures.ts'
import type { Comments } from '../../../../services/codehost/reviews/comments.ts'
import type { GitHubEvent } from '../events.ts'
import { isReport, reportOf } from './reports.ts'
import { talkOf, type Talk } from './talk.ts'

/** The parts from which payloads are made. */
export interface Telling {
  /** The address of the host. */
  readonly url: string
  readonly store: Store
  readonly github: Store<GitHubState>
  readonly extension: Extension
  readonly pulls: PullRequests
  readonly reviews: Reviews
  readonly comments: Comments
  readonly repositories: Pick<Repositories, 'bare'>
}

/** The event's action, if it has one, and its payload. */
export async function payloadOf(
  host: Telling,
  event: GitHubEvent,
  installationId: number,
): Promise<{ readonly action: string | null; readonly payload: object }> {
  const repository = repositoryOf(host, event.repository)
  const around = {
    repository,
    ...organizationAround(host.url, event.repository),
    installation: { id: installationId, node_id: nodeId('Installation', installationId) },
    sender: simpleUser(host.url, event.sender),
  }
  if (event.kind === 'push')
    return { action: null, payload: { ...(await pushed(host, repository, event)), ...around } }
  if (event.kind === 'repository')
    return { action: event.action, payload: { action: event.action, ...repositoryChanges(event), ...around } }
  if (isReport(event)) {
    const about = aboutOf(host, host.url, event.repository, repository)
    const { action, payload } = await reportOf(host, about, event)
    return { action, payload: { ...payload, ...around } }
  }
  if (event.kind !== 'pull_request') return told(host, repository, event, around)
  const { action, pull } = event
  const shown = await pullRequestOf(host, event.repository, repository, pull)
  return {
    action,
    payload: {
      action,
      number: pull.number,
      pull_request: shown,
      ...labelled(host, repository, event),
      ...changes(event),
      ...around,
    },
  }
}

/** The former values of what was changed. */
function repositoryChanges({
  action,
  repository,
  before,
}: Extract<GitHubEvent, { kind: 'repository' }>): object {
  switch (action) {
    case 'renamed':
      return { changes: { repository: { name: { from: before.name } } } }
    case 'transferred': {
      const owner = ownerOf(before.owner)
      const [kind, from] = owner?.type === 'Organization' ? ['organization', owner] : ['user', owner]
      return { changes: { owner: { from: from ? { [kind]: simpleUser('', from) } : {} } } }
    }
    case 'edited':
      return {
        changes: {
          ...(before.description === repository.description
            ? {}
            : { description: { from: before.description } }),
          ...(before.defaultBranch === repository.defaultBranch
            ? {}
            : { default_branch: { from: before.defaultBranch } }),
        },
      }
    default:
      return {}
  }
}

function told(
  host: Telling,
  answer: FullRepository,
  event: Talk,
  around: object,
): Promise<{ readonly action: string; readonly payload: object }> {
  const about = aboutOf(host, host.url, event.repository, answer)
  return talkOf(host, about, event, around)
}

function repositoryOf({ url, store }: Telling, repository: Repository): FullRepository {
  const owner = ownerOf(repository.owner)
  if (!owner) throw new Error(`${repository.owner} is not on this host.`)
  const openPulls = store
    .current()
    .pullRequests.filter((pull) => pull.repositoryId === repository.id && pull.closedAt === null).length
  return fullRepository(url, repository, { owner, openPulls, mayPush: true })
}

function organizationAround(url: string, { owner }: Repository): object {
  const organization = organizationOf(owner)
  return organization ? { organization: organizationSimple(url, organization) } : {}
}

async function pullRequestOf(
  host: Telling,
  repository: Repository,
  answer: FullRepository,
  pull: PullRequest,
): Promise<object> {
  const { url, store } = host
  return {
    ...simplePullRequest(url, answer, pull, aboutPull(store.current(), repository, pull)),
    ...(await pullFigures(host, url, repository, pull)),
  }
}

function labelled(
  { store }: Telling,
  answer: FullRepository,
  { label, repository }: Extract<GitHubEvent, { kind: 'pull_request' }>,
): object {
  const found = store.current().labels.find((one) => one.repositoryId === repository.id && one.name === label)
  return found ? { label: labelAnswer(answer, found) } : {}
}

function changes({ action, pull, before }: Extract<GitHubEvent, { kind: 'pull_request' }>): object {
  if (before === undefined) return {}
  if (action === 'synchronize') return { before: before.headSha, after: pull.headSha }
  if (action !== 'edited') return {}
  return {
    changes: {
      ...(before.title === pull.title ? {} : { title: { from: before.title } }),
      ...(before.body === pull.body ? {} : { body: { from: before.body ?? '' } }),
      ...(before.base === pull.base
        ? {}
        : { base: { ref: { from: before.base }, sha: { from: before.baseSha } } }),
    },
  }
}

/** The number of commits that GitHub includes in a push. */
const mostCommits = 20
const noCommit = '0'.repeat(40)

async function pushed(
  { repositories }: Telling,
  answer: FullRepository,
  { repository, ref, before, after, sender }: Extract<GitHubEvent, { kind: 'push' }>,
): Promise<object> {
  const bare = repositories.bare(repository)
  const commits = after === null ? [] : await bare.commits(before ?? undefined, after, mostCommits)
  const isForced = before !== null && after !== null && !(await bare.isAncestor(before, after))
  const shown = commits.map((commit) => commitOf(answer, commit))
  const [head] = after === null ? [] : await bare.commits(undefined, after, 1)
  const range = before !== null && after !== null ? `${before.slice(0, 12)}...${after.slice(0, 12)}` : ref
  return {
    ref,
    before: before ?? noCommit,
    after: after ?? noCommit,
    created: before === null,
    deleted: after === null,
    forced: isForced,
    base_ref: null,
    compare: `${answer.html_url}/compare/${range}`,
    commits: before === null ? [] : shown,
    head_commit: head ? commitOf(answer, head) : null,
    pusher: { name: sender.login, email: mailOf(sender) },
  }
}

const mailOf = (sender: Owner): string =>
  sender.type === 'Organization' ? '' : (sender satisfies Account).email

function commitOf(answer: FullRepository, { sha, tree, message, author, committer }: Commit): object {
  const person = ({ name, email }: { name: string; email: string }) => ({ name, email, username: name })
  return {
    id: sha,
    tree_id: tree,
    distinct: true,
    message,
    timestamp: time(committer.date),
    url: `${answer.html_url}/commit/${sha}`,
    author: person(author),
    committer: person(committer),
    added: [],
    removed: [],
    modified: [],
  }
}
