/** Completes answers of the code host to the form of GitHub's OpenAPI description, with members that the product does not read. */
import { z } from 'zod'
import type { Host } from '../../../services/codehost/host.ts'
import type { State } from '../../../services/codehost/state/stateSchema.ts'
import { associationOf } from './association.ts'

const joined = '2024-01-01T00:00:00Z'
const Members = z.record(z.string(), z.unknown())
type Members = Readonly<z.infer<typeof Members>>

/** The additional members of each kind of object. An object is of every kind whose members it has. */
const kinds: readonly (readonly [has: readonly string[], also: (one: Members) => Members])[] = [
  [['login', 'avatar_url', 'type', 'html_url'], user],
  [['user_view_type', 'login'], person],
  [['login', 'avatar_url', 'description'], organization],
  [['full_name', 'default_branch'], repository],
  [['head', 'base', 'number', 'html_url'], pullRequest],
  [['repository_url', 'number', 'labels'], issue],
  [['merged_at', 'url', 'html_url'], inIssue],
  [['event', 'actor'], () => ({ commit_id: null, commit_url: null, performed_via_github_app: null })],
  [['issue_url', 'body', 'user'], reacted],
  [['diff_hunk', 'pull_request_url'], reviewComment],
  [['submitted_at', 'pull_request_url'], review],
  [['sha', 'commit', 'parents'], commit],
]

/** The same value, in which every object has all members that GitHub gives that kind. */
export function completed(value: unknown, { store }: Pick<Host, 'store'>): unknown {
  const done = (one: unknown) => completed(one, { store })
  if (Array.isArray(value)) return value.map(done)
  const read = Members.safeParse(value)
  if (!read.success) return value
  const one: Members = Object.fromEntries(Object.entries(read.data).map(([name, of]) => [name, done(of)]))
  const found = kinds.filter(([has]) => has.every((name) => name in one))
  const all = found.reduce((before, [, also]) => ({ ...before, ...also(before) }), one)
  return found.some(([, also]) => authored.includes(also))
    ? { ...all, ...association(store.current(), all) }
    : all
}

/** Kinds that people write: their answers include the author's relation to the repository. */
const authored: readonly ((one: Members) => Members)[] = [pullRequest, issue, reacted, reviewComment, review]

function association(state: State, { url, pull_request_url: pull, user: by }: Members): Members {
  const [, owner, name] = /\/repos\/([^/]+)\/([^/]+)\//.exec(String(url ?? pull)) ?? []
  const repository = state.repositories.find((one) => one.owner === owner && one.name === name)
  const login = Members.safeParse(by).data?.['login']
  return repository && typeof login === 'string'
    ? { author_association: associationOf(state, repository, login) }
    : { author_association: 'NONE' }
}

function user({ url }: Members): Members {
  return {
    gravatar_id: '',
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    site_admin: false,
  }
}

function person({ user_view_type: view }: Members): Members {
  const hidden = { private_gists: 0, disk_usage: 0, collaborators: 0, two_factor_authentication: false }
  return {
    company: null,
    blog: '',
    location: null,
    hireable: null,
    bio: null,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: joined,
    updated_at: joined,
    ...(view === 'private' ? hidden : {}),
  }
}

function organization({ url }: Members): Members {
  return {
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
  }
}

function repository({ url, html_url: page, full_name: name, open_issues_count: open }: Members): Members {
  const at = new URL(String(page))
  return {
    ...repositoryUrls(String(url)),
    git_url: `git://${at.host}/${name}.git`,
    ssh_url: `git@${at.hostname}:${name}.git`,
    svn_url: page,
    fork: false,
    mirror_url: null,
    homepage: null,
    license: null,
    size: 0,
    forks: 0,
    forks_count: 0,
    network_count: 0,
    stargazers_count: 0,
    subscribers_count: 0,
    watchers: 0,
    watchers_count: 0,
    open_issues: open,
    has_issues: true,
    has_projects: false,
    has_wiki: false,
    has_pages: false,
    has_downloads: false,
    has_discussions: false,
    disabled: false,
    is_template: false,
    topics: [],
    web_commit_signoff_required: false,
  }
}

function pullRequest(one: Members): Members {
  const { url, html_url: page } = one
  const repo = String(url).replace(/\/pulls\/\d+$/, '')
  const issue = String(url).replace(/\/pulls\/(\d+)$/, '/issues/$1')
  const head = Members.safeParse(one['head']).data ?? {}
  const links = {
    issue,
    comments: `${issue}/comments`,
    review_comments: `${url}/comments`,
    review_comment: `${repo}/pulls/comments{/number}`,
    commits: `${url}/commits`,
    statuses: `${repo}/statuses/${head['sha']}`,
  }
  const all = Object.entries({ self: url, html: page, ...links })
  return {
    locked: false,
    milestone: null,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    auto_merge: null,
    active_lock_reason: null,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    ...Object.fromEntries(Object.entries(links).map(([name, href]) => [`${name}_url`, href])),
    _links: Object.fromEntries(all.map(([name, href]) => [name, { href }])),
    ...('mergeable' in one ? { rebaseable: false, maintainer_can_modify: false } : {}),
  }
}

function issue({ url, state_reason: reason = null }: Members): Members {
  return {
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    timeline_url: `${url}/timeline`,
    state_reason: reason,
    locked: false,
    active_lock_reason: null,
    assignee: null,
    assignees: [],
    milestone: null,
    reactions: reactions(url),
  }
}

/** The member of an issue that describes it as a pull request. */
function inIssue({ html_url: page, number }: Members): Members {
  return number === undefined ? { diff_url: `${page}.diff`, patch_url: `${page}.patch` } : {}
}

function reacted({ url }: Members): Members {
  return { reactions: reactions(url) }
}

function reviewComment({ url, html_url: page, pull_request_url: pull }: Members): Members {
  const _links = { self: { href: url }, html: { href: page }, pull_request: { href: pull } }
  return { _links, reactions: reactions(url) }
}

function review({ html_url: page, pull_request_url: pull }: Members): Members {
  return { _links: { html: { href: page }, pull_request: { href: pull } } }
}

const reactions = (url: unknown): Members => ({
  url: `${url}/reactions`,
  total_count: 0,
  '+1': 0,
  '-1': 0,
  laugh: 0,
  hooray: 0,
  confused: 0,
  heart: 0,
  rocket: 0,
  eyes: 0,
})

/** Signatures are not checked here. */
const unverified = { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null }

function commit(one: Members): Members {
  const { sha, url } = one
  const git = String(url).replace(/\/commits\/[0-9a-f]+$/, '/git')
  const inner = Members.safeParse(one['commit']).data ?? {}
  const tree = Members.safeParse(inner['tree']).data ?? {}
  return {
    node_id: Buffer.from(`Commit:${sha}`).toString('base64url'),
    comments_url: `${url}/comments`,
    author: null,
    committer: null,
    commit: {
      ...inner,
      url: `${git}/commits/${sha}`,
      comment_count: 0,
      verification: unverified,
      tree: { ...tree, url: `${git}/trees/${tree['sha']}` },
    },
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
