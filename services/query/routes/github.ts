/** What the code host says, asked with the person's own access. */
import { getGitHubUser, listOrganizations, listRepositories, type Repository } from '#domain/api/projects.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import type { HostRepository } from '#platform/ports/codeHost.ts'
import { route, type QueryServices } from '../services.ts'

export const githubRoutes: readonly Route<QueryServices>[] = [
  route(getGitHubUser, signedIn, fresh, async ({ user }, { access, codeHost }) => {
    const account = await codeHost.account(await access.tokenOf(user.id))
    return { user: { login: account.login, public_repos: account.publicRepos }, appUrls: codeHost.appUrls }
  }),
  route(listRepositories, signedIn, fresh, async ({ user }, { access, codeHost }) => {
    const repositories = await codeHost.repositories(await access.tokenOf(user.id))
    return { repositories: repositories.map(listed) }
  }),
  route(listOrganizations, signedIn, fresh, async ({ user }, { access, codeHost }) => {
    const organizations = await codeHost.organizations(await access.tokenOf(user.id))
    return { organizations: organizations.map(({ login, avatarUrl }) => ({ login, avatar_url: avatarUrl })) }
  }),
]

function listed({ id, name, fullName, description, isPrivate, htmlUrl }: HostRepository): Repository {
  return { id, name, full_name: fullName, description, private: isPrivate, html_url: htmlUrl }
}
