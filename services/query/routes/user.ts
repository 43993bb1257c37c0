/** The routes that read the signed-in person's account, model keys and sessions, and the person's account and repositories at the code host. */
import { tokenKindOf } from '#domain/codeHostToken.ts'
import { listAgentKeys } from '#domain/api/agentKeys.schema.ts'
import { getMe, listSessions } from '#domain/api/auth.schema.ts'
import { userOf } from '#domain/views/users.ts'
import { fresh, identified, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { route, type QueryServices } from '../services.ts'
import {
  getGitHubUser,
  listOrganizations,
  listRepositories,
  type Repository,
} from '#domain/api/projects.schema.ts'
import type { HostRepository } from '#platform/ports/codeHost.ts'

export const authRoutes: readonly Route<QueryServices>[] = [
  route(getMe, fresh, identified, async ({ user }, { accessControl }) => ({
    user: userOf(user),
    isAdmin: await accessControl.isAdmin(user),
  })),
  route(listAgentKeys, fresh, signedIn, async ({ user: { agentKeys = [] } }) => ({ keys: [...agentKeys] })),
  route(listSessions, fresh, identified, async ({ user: { sessions = [] }, sessionId }, { clock }) => {
    const now = clock.now().getTime()
    const open = sessions.filter(({ expiresAt }) => Date.parse(expiresAt) > now)
    return { sessions: open.map((one) => ({ ...one, current: one.id === sessionId })).toReversed() }
  }),
]

export const githubRoutes: readonly Route<QueryServices>[] = [
  route(getGitHubUser, signedIn, fresh, async ({ user }, { access, codeHost }) => {
    const account = await codeHost.account(await access.tokenOf(user.id))
    const shown = { login: account.login, public_repos: account.publicRepos }
    return codeHost.ownToken === undefined
      ? { user: shown, appUrls: await codeHost.appUrls() }
      : { user: shown, token: { kind: tokenKindOf(codeHost.ownToken) } }
  }),
  route(listRepositories, signedIn, fresh, async ({ user, query }, { access, codeHost }) => {
    const { type, sort, per_page: perPage, page } = query
    const all = await codeHost.repositories(await access.tokenOf(user.id))
    const isOwn = (owner: string) => owner.toLowerCase() === user.githubUsername?.toLowerCase()
    const wanted = all.filter(({ isPrivate, owner }) => {
      if (type === 'owner' || type === 'member') return isOwn(owner) === (type === 'owner')
      return type === 'all' || isPrivate === (type === 'private')
    })
    const shown = inOrder(wanted, sort).slice((page - 1) * perPage, page * perPage)
    return { repositories: shown.map(listed) }
  }),
  route(listOrganizations, signedIn, fresh, async ({ user }, { access, codeHost }) => {
    const organizations = await codeHost.organizations(await access.tokenOf(user.id))
    return { organizations: organizations.map(({ login, avatarUrl }) => ({ login, avatar_url: avatarUrl })) }
  }),
]

/** The repositories, sorted as requested. The code host has already sorted them by their last update. */
function inOrder(
  repositories: readonly HostRepository[],
  sort: 'updated' | 'created' | 'full_name',
): readonly HostRepository[] {
  switch (sort) {
    case 'updated':
      return repositories
    case 'created':
      return repositories.toSorted((a, b) => Date.parse(b.createdAt ?? '') - Date.parse(a.createdAt ?? ''))
    case 'full_name':
      return repositories.toSorted((a, b) => (a.fullName < b.fullName ? -1 : 1))
  }
}

function listed(found: HostRepository): Repository {
  const { id, name, fullName, description, isPrivate, htmlUrl, mayPush } = found
  const shown = { id, name, full_name: fullName, description, private: isPrivate, html_url: htmlUrl }
  return { ...shown, may_push: mayPush }
}
