/** What GitHub's REST API says of commits and branches, in the shape of its OpenAPI description. */
import type { Commit, DiffSize } from '../git/bare.ts'
import type { FullRepository } from './answers.ts'

/** `short-branch`. */
export const shortBranch = (repository: FullRepository, name: string, sha: string, isProtected = false) => ({
  name,
  commit: { sha, url: `${repository.url}/commits/${sha}` },
  protected: isProtected,
})

/** `branch-with-protection`. */
export const branchWithProtection = (
  repository: FullRepository,
  name: string,
  commit: Commit,
  isProtected: boolean,
) => {
  const url = `${repository.url}/branches/${encodeURIComponent(name)}`
  return {
    name,
    commit: commitAnswer(repository, commit),
    _links: { self: url, html: `${repository.html_url}/tree/${encodeURI(name)}` },
    protected: isProtected,
    protection: { enabled: isProtected },
    protection_url: `${url}/protection`,
  }
}

/** Signatures are not looked at here. */
const unverified = { verified: false, reason: 'unsigned' } as const

/** `commit`. */
export function commitAnswer(repository: FullRepository, commit: Commit) {
  const url = `${repository.url}/commits/${commit.sha}`
  return {
    sha: commit.sha,
    node_id: Buffer.from(`Commit:${commit.sha}`).toString('base64url'),
    url,
    html_url: `${repository.html_url}/commit/${commit.sha}`,
    comments_url: `${url}/comments`,
    commit: {
      url: `${repository.url}/git/commits/${commit.sha}`,
      author: commit.author,
      committer: commit.committer,
      message: commit.message,
      comment_count: 0,
      verification: { ...unverified, signature: null, payload: null, verified_at: null },
      tree: { sha: commit.tree, url: `${repository.url}/git/trees/${commit.tree}` },
    },
    author: null,
    committer: null,
    parents: commit.parents.map((sha) => ({ sha, url: `${repository.url}/commits/${sha}` })),
  }
}

/** `commit-comparison`. */
export function comparison(
  repository: FullRepository,
  compared: {
    readonly basehead: string
    readonly ahead: number
    readonly behind: number
    readonly base: Commit
    readonly mergeBase: Commit
    readonly commits: readonly Commit[]
    readonly size: DiffSize
  },
) {
  const { ahead, behind } = compared
  const page = `${repository.html_url}/compare/${encodeURIComponent(compared.basehead)}`
  return {
    url: `${repository.url}/compare/${encodeURIComponent(compared.basehead)}`,
    html_url: page,
    permalink_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    base_commit: commitAnswer(repository, compared.base),
    merge_base_commit: commitAnswer(repository, compared.mergeBase),
    status: ahead > 0 ? (behind > 0 ? 'diverged' : 'ahead') : behind > 0 ? 'behind' : 'identical',
    ahead_by: ahead,
    behind_by: behind,
    total_commits: ahead,
    commits: compared.commits.map((commit) => commitAnswer(repository, commit)),
  }
}
