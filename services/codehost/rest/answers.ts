/** What GitHub's REST API says of people, repositories and pull requests, in the shape of its OpenAPI description. */
import type { Account, Organization, Owner, Team } from '../accounts.ts'
import type { AboutPull } from '../actors.ts'
import type { MergeState } from '../reviews/decision.ts'
import type { Label } from '../issues/records.ts'
import type { PullRequestFigures } from '../pullRequests.ts'
import type { PullRequest, Repository } from '../state.ts'

/** `origin` is where the one who asks finds the code host; the API is under `/api/v3` of it, as on GitHub Enterprise. */
export const apiOf = (origin: string): string => `${origin}/api/v3`

/** GitHub's times have no fractions of a second. */
export const time = (iso: string): string => iso.replace(/\.\d+Z$/, 'Z')

export const nodeId = (kind: string, id: number): string => Buffer.from(`${kind}:${id}`).toString('base64url')

const joined = '2024-01-01T00:00:00Z'

/** `simple-user`. */
export function simpleUser(origin: string, owner: Pick<Owner, 'id' | 'login' | 'type'>) {
  const login = encodeURIComponent(owner.login)
  const url = `${apiOf(origin)}/users/${login}`
  return {
    login: owner.login,
    id: owner.id,
    node_id: nodeId(owner.type, owner.id),
    avatar_url: `${origin}/avatars/${login}`,
    gravatar_id: '',
    url,
    html_url:
      owner.type === 'Bot' ? `${origin}/apps/${owner.login.slice(0, -'[bot]'.length)}` : `${origin}/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: owner.type,
    site_admin: false,
  }
}

/** `private-user`: the one who is signed in. */
export function privateUser(origin: string, account: Account, own: readonly Repository[]) {
  const hidden = own.filter((repository) => repository.isPrivate).length
  return {
    ...simpleUser(origin, account),
    user_view_type: 'private',
    name: account.name,
    company: null,
    blog: '',
    location: null,
    email: account.email,
    hireable: null,
    bio: null,
    public_repos: own.length - hidden,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: joined,
    updated_at: joined,
    private_gists: 0,
    total_private_repos: hidden,
    owned_private_repos: hidden,
    disk_usage: 0,
    collaborators: 0,
    two_factor_authentication: false,
  }
}

/** `public-user`: a person, an organisation or a bot, as everybody may see them. */
export function publicUser(origin: string, owner: Owner, publicRepos: number) {
  return {
    ...simpleUser(origin, owner),
    user_view_type: 'public',
    name: owner.name,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: null,
    public_repos: publicRepos,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: joined,
    updated_at: joined,
  }
}

/** `organization-simple`. */
export function organizationSimple(origin: string, organization: Organization) {
  const url = `${apiOf(origin)}/orgs/${organization.login}`
  return {
    login: organization.login,
    id: organization.id,
    node_id: nodeId(organization.type, organization.id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${origin}/avatars/${organization.login}`,
    description: organization.description,
  }
}

/** `org-membership`: who owns an organisation is its `admin`. */
export const orgMembership = (origin: string, organization: Organization, account: Account) => ({
  url: `${apiOf(origin)}/orgs/${organization.login}/memberships/${account.login}`,
  state: 'active',
  role: organization.owners.includes(account.login) ? 'admin' : 'member',
  organization_url: `${apiOf(origin)}/orgs/${organization.login}`,
  organization: organizationSimple(origin, organization),
  user: simpleUser(origin, account),
})

/** `team-membership`. */
export const teamMembership = (origin: string, organization: Organization, team: Team, login: string) => ({
  url: `${apiOf(origin)}/organizations/${organization.id}/team/${team.id}/memberships/${login}`,
  state: 'active',
  role: 'member',
})

/** `repository` and `full-repository` alike. */
export function fullRepository(
  origin: string,
  repository: Repository,
  facts: { readonly owner: Owner; readonly openPulls: number; readonly mayPush: boolean },
) {
  const fullName = `${facts.owner.login}/${repository.name}`
  const url = `${apiOf(origin)}/repos/${fullName}`
  const page = `${origin}/${fullName}`
  return {
    id: repository.id,
    node_id: nodeId('Repository', repository.id),
    name: repository.name,
    full_name: fullName,
    private: repository.isPrivate,
    visibility: repository.isPrivate ? 'private' : 'public',
    owner: simpleUser(origin, facts.owner),
    html_url: page,
    description: repository.description,
    fork: false,
    url,
    ...repositoryUrls(url),
    git_url: `${page.replace(/^https?:/, 'git:')}.git`,
    ssh_url: `git@${new URL(origin).hostname}:${fullName}.git`,
    clone_url: `${page}.git`,
    svn_url: page,
    mirror_url: null,
    homepage: null,
    language: repository.language,
    license: null,
    size: 0,
    default_branch: repository.defaultBranch,
    forks: 0,
    forks_count: 0,
    network_count: 0,
    stargazers_count: 0,
    subscribers_count: 0,
    watchers: 0,
    watchers_count: 0,
    open_issues: facts.openPulls,
    open_issues_count: facts.openPulls,
    has_issues: true,
    has_projects: false,
    has_wiki: false,
    has_pages: false,
    has_downloads: false,
    has_discussions: false,
    archived: repository.archived,
    disabled: false,
    is_template: false,
    topics: [],
    web_commit_signoff_required: false,
    permissions: {
      admin: facts.mayPush,
      maintain: facts.mayPush,
      push: facts.mayPush,
      triage: true,
      pull: true,
    },
    pushed_at: time(repository.pushedAt ?? repository.createdAt),
    created_at: time(repository.createdAt),
    updated_at: time(repository.updatedAt),
  }
}

function repositoryUrls(url: string) {
  return {
    archive_url: `${url}/{archive_format}{/ref}`,
    assignees_url: `${url}/assignees{/user}`,
    blobs_url: `${url}/git/blobs{/sha}`,
    branches_url: `${url}/branches{/branch}`,
    collaborators_url: `${url}/collaborators{/collaborator}`,
    comments_url: `${url}/comments{/number}`,
    commits_url: `${url}/commits{/sha}`,
    compare_url: `${url}/compare/{base}...{head}`,
    contents_url: `${url}/contents/{+path}`,
    contributors_url: `${url}/contributors`,
    deployments_url: `${url}/deployments`,
    downloads_url: `${url}/downloads`,
    events_url: `${url}/events`,
    forks_url: `${url}/forks`,
    git_commits_url: `${url}/git/commits{/sha}`,
    git_refs_url: `${url}/git/refs{/sha}`,
    git_tags_url: `${url}/git/tags{/sha}`,
    hooks_url: `${url}/hooks`,
    issue_comment_url: `${url}/issues/comments{/number}`,
    issue_events_url: `${url}/issues/events{/number}`,
    issues_url: `${url}/issues{/number}`,
    keys_url: `${url}/keys{/key_id}`,
    labels_url: `${url}/labels{/name}`,
    languages_url: `${url}/languages`,
    merges_url: `${url}/merges`,
    milestones_url: `${url}/milestones{/number}`,
    notifications_url: `${url}/notifications{?since,all,participating}`,
    pulls_url: `${url}/pulls{/number}`,
    releases_url: `${url}/releases{/id}`,
    stargazers_url: `${url}/stargazers`,
    statuses_url: `${url}/statuses/{sha}`,
    subscribers_url: `${url}/subscribers`,
    subscription_url: `${url}/subscription`,
    tags_url: `${url}/tags`,
    teams_url: `${url}/teams`,
    trees_url: `${url}/git/trees{/sha}`,
  }
}

export type FullRepository = ReturnType<typeof fullRepository>

/** `label`. */
export const labelAnswer = (repository: Pick<FullRepository, 'url'>, label: Label) => ({
  id: label.id,
  node_id: nodeId('Label', label.id),
  url: `${repository.url}/labels/${encodeURIComponent(label.name)}`,
  name: label.name,
  description: label.description,
  color: label.color,
  default: false,
})

/** `pull-request-simple`. */
export function simplePullRequest(
  origin: string,
  repository: FullRepository,
  pull: PullRequest,
  { account, association, labels }: AboutPull,
) {
  const url = `${repository.url}/pulls/${pull.number}`
  const issue = `${repository.url}/issues/${pull.number}`
  const page = `${repository.html_url}/pull/${pull.number}`
  const statuses = `${repository.url}/statuses/${pull.headSha}`
  const side = (ref: string, sha: string) => ({
    label: `${repository.owner.login}:${ref}`,
    ref,
    sha,
    user: repository.owner,
    repo: repository,
  })
  return {
    id: pull.id,
    node_id: nodeId('PullRequest', pull.id),
    number: pull.number,
    state: pull.closedAt === null ? 'open' : 'closed',
    locked: false,
    draft: pull.draft,
    title: pull.title,
    body: pull.body,
    user: account ? simpleUser(origin, account) : null,
    labels: labels.map((label) => labelAnswer(repository, label)),
    milestone: null,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    author_association: association,
    auto_merge: null,
    active_lock_reason: null,
    created_at: time(pull.createdAt),
    updated_at: time(pull.updatedAt),
    closed_at: pull.closedAt === null ? null : time(pull.closedAt),
    merged_at: pull.merged ? time(pull.merged.at) : null,
    merge_commit_sha: pull.merged?.commit ?? null,
    head: side(pull.head, pull.headSha),
    base: side(pull.base, pull.baseSha),
    url,
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    issue_url: issue,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${repository.url}/pulls/comments{/number}`,
    comments_url: `${issue}/comments`,
    statuses_url: statuses,
    _links: {
      self: { href: url },
      html: { href: page },
      issue: { href: issue },
      comments: { href: `${issue}/comments` },
      review_comments: { href: `${url}/comments` },
      review_comment: { href: `${repository.url}/pulls/comments{/number}` },
      commits: { href: `${url}/commits` },
      statuses: { href: statuses },
    },
  }
}

/** Who merged a pull request, how much was said of it, and whether it can be merged. */
export interface PullRequestTalk {
  readonly mergedBy: Account | undefined
  readonly comments: number
  readonly reviewComments: number
  readonly mergeState: MergeState
}

/** `pull-request`: the same with figures from git. */
export function fullPullRequest(
  origin: string,
  simple: ReturnType<typeof simplePullRequest>,
  figures: PullRequestFigures,
  { mergedBy, comments, reviewComments, mergeState }: PullRequestTalk,
) {
  return {
    ...simple,
    merged: simple.merged_at !== null,
    mergeable: figures.mergeable,
    mergeable_state: mergeState.toLowerCase(),
    merged_by: mergedBy ? simpleUser(origin, mergedBy) : null,
    rebaseable: false,
    maintainer_can_modify: false,
    comments,
    review_comments: reviewComments,
    commits: figures.commits,
    additions: figures.additions,
    deletions: figures.deletions,
    changed_files: figures.changedFiles,
  }
}
