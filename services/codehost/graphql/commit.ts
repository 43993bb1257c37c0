/** GraphQL objects for a commit, and for the commits of a pull request. */
import type { PullRequest, Repository } from '../state/stateSchema.ts'
import type { ResolverContext } from './context.ts'
import { connection, type PageArguments } from './connections.ts'

const idOf = (kind: string, sha: string): string => Buffer.from(`${kind}:${sha}`).toString('base64url')

/** GitHub lists at most this many commits of a pull request. */
const mostCommits = 250

export const commit = (context: ResolverContext, repository: Repository, sha: string): object => ({
  __typename: 'Commit',
  id: idOf('Commit', sha),
  oid: sha,
  statusCheckRollup: () => context.host.extension.checkRollup?.(context.ctx, repository, sha) ?? null,
})

/** The commits of a pull request, oldest first; only the newest 250, if there are more. */
export async function commitsOf(
  context: ResolverContext,
  repository: Repository,
  pull: PullRequest,
  args: PageArguments,
): Promise<object> {
  // Our client often requests only the last commit. The last commit is the head, which is known without running git.
  const onlyHead = args.first == null && args.last === 1 && args.before == null
  const bare = context.host.repositories.bare(repository)
  const shas = onlyHead
    ? [pull.headSha]
    : (await bare.commits(pull.baseSha, pull.headSha, mostCommits)).map(({ sha }) => sha)
  return connection(shas, args, (sha) => ({
    __typename: 'PullRequestCommit',
    id: idOf('PullRequestCommit', `${pull.id}:${sha}`),
    commit: commit(context, repository, sha),
  }))
}
