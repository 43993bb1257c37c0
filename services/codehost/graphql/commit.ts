/** Resolves commits, and the commits of a pull request. */
import type { PullRequest, Repository } from '../state/state.ts'
import type { Asking } from './asking.ts'
import { connection, type PageArguments } from './connections.ts'

const idOf = (kind: string, sha: string): string => Buffer.from(`${kind}:${sha}`).toString('base64url')

/** GitHub lists at most this many commits of a pull request. */
const mostCommits = 250

export const commit = (asking: Asking, repository: Repository, sha: string): object => ({
  __typename: 'Commit',
  id: idOf('Commit', sha),
  oid: sha,
  statusCheckRollup: () => asking.host.extension.checkRollup?.(asking.ctx, repository, sha) ?? null,
})

/** The commits of a pull request, oldest first. */
export async function commitsOf(
  asking: Asking,
  repository: Repository,
  pull: PullRequest,
  args: PageArguments,
): Promise<object> {
  // Our client often requests only the last commit. That one is the head, which is known without git.
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
