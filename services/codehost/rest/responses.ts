/** People, repositories and pull requests in the form of GitHub's REST API, with the fields that the product reads. */
import type { Account, Organization, Owner, Team } from '../state/accounts.ts'
import type { AboutPull } from '../state/actors.ts'
import type { Label } from '../state/issueRecords.ts'
import type { PullRequest, Repository } from '../state/stateSchema.ts'

/** The address of the API, under `/api/v3` as on GitHub Enterprise. `origin` is the address of the code host as the client sees it. */
export const apiOf = (origin: string): string => `${origin}/api/v3`

/** The time without fractions of a second, as GitHub writes times. */
export const time = (iso: string): string => iso.replace(/\.\d+Z$/, 'Z')

export const nodeId = (kind: string, id: number): string => Buffer.from(`${kind}:${id}`).toString('base64url')

/** A person, bot or organisation in GitHub's schema `simple-user`. */
export function simpleUser(origin: string, owner: Pick<Owner, 'id' | 'login' | 'type'>) {
  const login = encodeURIComponent(owner.login)
  return {
    login: owner.login,
    id: owner.id,
    node_id: nodeId(owner.type, owner.id),
    avatar_url: `${origin}/avatars/${login}`,
    url: `${apiOf(origin)}/users/${login}`,
    html_url:
      owner.type === 'Bot' ? `${origin}/apps/${owner.login.slice(0, -'[bot]'.length)}` : `${origin}/${login}`,
    type: owner.type,
  }
}

/** The signed-in person in GitHub's schema `private-user`. */
export function privateUser(origin: string, account: Account, own: readonly Repository[]) {
  const hidden = own.filter((repository) => repository.isPrivate).length
  return {
    ...simpleUser(origin, account),
    user_view_type: 'private',
    name: account.name,
    email: account.email,
    public_repos: own.length - hidden,
    total_private_repos: hidden,
    owned_private_repos: hidden,
  }
}

/** An organisation in GitHub's schema `organization-simple`. */
export function organizationSimple(origin: string, organization: Organization) {
  const url = `${apiOf(origin)}/orgs/${organization.login}`
  return {
    login: organization.login,
    id: organization.id,
    node_id: nodeId(organization.type, organization.id),
    url,
    avatar_url: `${origin}/avatars/${organization.login}`,
    description: organization.description,
  }
}

/** A membership in GitHub's schema `org-membership`. The owners of an organisation have the role `admin`. */
export const orgMembership = (origin: string, organization: Organization, account: Account) => ({
  url: `${apiOf(origin)}/orgs/${organization.login}/memberships/${account.login}`,
  state: 'active',
  role: organization.owners.includes(account.login) ? 'admin' : 'member',
  organization_url: `${apiOf(origin)}/orgs/${organization.login}`,
  organization: organizationSimple(origin, organization),
  user: simpleUser(origin, account),
})

/** A membership in GitHub's schema `team-membership`. */
export const teamMembership = (origin: string, organization: Organization, team: Team, login: string) => ({
  url: `${apiOf(origin)}/organizations/${organization.id}/team/${team.id}/memberships/${login}`,
  state: 'active',
  role: 'member',
})

/** A repository in GitHub's schemas `repository` and `full-repository`. */
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
    url,
    clone_url: `${page}.git`,
    language: repository.language,
    default_branch: repository.defaultBranch,
    open_issues_count: facts.openPulls,
    archived: repository.archived,
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

export type FullRepository = ReturnType<typeof fullRepository>

/** A label in GitHub's schema `label`. */
export const labelAnswer = (repository: Pick<FullRepository, 'url'>, label: Label) => ({
  id: label.id,
  node_id: nodeId('Label', label.id),
  url: `${repository.url}/labels/${encodeURIComponent(label.name)}`,
  name: label.name,
  description: label.description,
  color: label.color,
  default: false,
})

/** A pull request in GitHub's schema `pull-request-simple`. */
export function simplePullRequest(
  origin: string,
  repository: FullRepository,
  pull: PullRequest,
  { account, labels }: AboutPull,
) {
  const url = `${repository.url}/pulls/${pull.number}`
  const page = `${repository.html_url}/pull/${pull.number}`
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
    draft: pull.draft,
    title: pull.title,
    body: pull.body,
    user: account ? simpleUser(origin, account) : null,
    labels: labels.map((label) => labelAnswer(repository, label)),
    created_at: time(pull.createdAt),
    updated_at: time(pull.updatedAt),
    closed_at: pull.closedAt === null ? null : time(pull.closedAt),
    merged_at: pull.merged ? time(pull.merged.at) : null,
    merge_commit_sha: pull.merged?.commit ?? null,
    head: side(pull.head, pull.headSha),
    base: side(pull.base, pull.baseSha),
    url,
    html_url: page,
  }
}
