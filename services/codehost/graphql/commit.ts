/** Commits, and those of a pull request. */
import { reportsOf, rollupOf } from '../checks/rollup.ts'
import { actionsAppId, type CheckRun, type CommitStatus } from '../checks/records.ts'
import { nodeId, time } from '../rest/answers.ts'
import type { PullRequest, Repository, State } from '../state.ts'
import { require, type Asking } from './asking.ts'
import { connection, type PageArguments } from './connections.ts'

const idOf = (kind: string, sha: string): string => Buffer.from(`${kind}:${sha}`).toString('base64url')

/** As many as GitHub lists of one pull request. */
const mostCommits = 250

export const commit = (asking: Asking, repository: Repository, sha: string): object => ({
  __typename: 'Commit',
  id: idOf('Commit', sha),
  oid: sha,
  statusCheckRollup: () => rollup(asking, repository, sha),
})

/** What was reported of a commit; `null` where nothing was. */
function rollup(asking: Asking, repository: Repository, sha: string): object | null {
  const { host, origin } = asking
  require(asking, repository, { checks: 'read', statuses: 'read' })
  const reports = reportsOf(host.store.current(), repository.id, sha)
  const state = rollupOf(reports)
  if (state === null) return null
  const page = `${origin}/${repository.owner}/${repository.name}`
  const all: readonly (() => object)[] = [
    ...reports.runs.map((run) => () => checkRun(page, run, appOf(host.store.current(), run.appId))),
    ...reports.statuses.map((status) => () => statusContext(status)),
  ]
  return {
    __typename: 'StatusCheckRollup',
    id: idOf('StatusCheckRollup', sha),
    state,
    contexts: (args: PageArguments) => connection(all, args, (write) => write()),
  }
}

/** An App by its number, GitHub's own included; what is left of one that is gone. */
function appOf({ apps }: State, id: number): { readonly slug: string; readonly name: string } {
  if (id === actionsAppId) return { slug: 'github-actions', name: 'GitHub Actions' }
  return apps.find((app) => app.id === id) ?? { slug: 'ghost', name: 'Ghost' }
}

const checkRun = (page: string, run: CheckRun, { slug, name }: ReturnType<typeof appOf>): object => {
  const url = `${page}/runs/${run.id}`
  return {
    __typename: 'CheckRun',
    id: nodeId('CheckRun', run.id),
    databaseId: run.id,
    name: run.name,
    status: run.status.toUpperCase(),
    conclusion: run.conclusion?.toUpperCase() ?? null,
    startedAt: time(run.startedAt),
    completedAt: run.completedAt === null ? null : time(run.completedAt),
    detailsUrl: run.detailsUrl ?? url,
    url,
    title: run.title,
    summary: run.summary,
    text: run.text,
    checkSuite: {
      id: nodeId('CheckSuite', run.suiteId),
      databaseId: run.suiteId,
      app: {
        id: nodeId('App', run.appId),
        databaseId: run.appId,
        slug,
        name,
      },
    },
  }
}

const statusContext = (status: CommitStatus): object => ({
  __typename: 'StatusContext',
  id: nodeId('StatusContext', status.id),
  context: status.context,
  state: status.state.toUpperCase(),
  description: status.description,
  targetUrl: status.targetUrl,
  createdAt: time(status.createdAt),
})

/** The commits of a pull request, oldest first. */
export async function commitsOf(
  asking: Asking,
  repository: Repository,
  pull: PullRequest,
  args: PageArguments,
): Promise<object> {
  // The last one is the head: it is asked for at every look, and needs no git.
  const onlyHead = args.first == null && args.last === 1 && args.before == null
  const bare = asking.host.repositories.bare(repository)
  const shas = onlyHead
    ? [pull.headSha]
    : (await bare.commits(pull.baseSha, pull.headSha, mostCommits)).map(({ sha }) => sha)
  return connection(shas, args, (sha) => ({
    __typename: 'PullRequestCommit',
    id: idOf('PullRequestCommit', `${pull.id}:${sha}`),
    commit: commit(asking, repository, sha),
  }))
}
