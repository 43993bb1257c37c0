/** What GitHub's REST API says of commits and branches, as far as the product reads it. */
import type { Commit } from '../git/bare.ts'
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

/** `commit`. */
export function commitAnswer(repository: FullRepository, commit: Commit) {
  const url = `${repository.url}/commits/${commit.sha}`
  const { author, committer, message, tree } = commit
  return {
    sha: commit.sha,
    url,
    html_url: `${repository.html_url}/commit/${commit.sha}`,
    commit: { author, committer, message, tree: { sha: tree } },
    parents: commit.parents.map((sha) => ({ sha, url: `${repository.url}/commits/${sha}` })),
  }
}
