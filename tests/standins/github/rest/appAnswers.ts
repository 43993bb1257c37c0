/** Answers of GitHub's REST API about Apps and their installations, in the form of its OpenAPI description. */
import {
  organizationsOf,
  ownerOf,
  sameName,
  type Account,
  type Owner,
} from '../../../../services/codehost/state/accounts.ts'
import type { App, Installation, GitHubState } from '../state.ts'
import { apiOf, nodeId, simpleUser, time } from '../../../../services/codehost/rest/responses.ts'

/** The address of an installation's settings page, on which its account changes it. */
export function installationPage(origin: string, { id, account }: Installation): string {
  const owner = ownerOf(account)
  return owner?.type === 'Organization'
    ? `${origin}/organizations/${owner.login}/settings/installations/${id}`
    : `${origin}/settings/installations/${id}`
}

/** The schema `installation`. */
export function installationAnswer(origin: string, installation: Installation, app: App, owner: Owner) {
  const { id, suspended } = installation
  const by = suspended?.by ? ownerOf(suspended.by) : undefined
  return {
    id,
    client_id: app.clientId,
    account: simpleUser(origin, owner),
    repository_selection: installation.repositoryIds === null ? 'all' : 'selected',
    access_tokens_url: `${apiOf(origin)}/app/installations/${id}/access_tokens`,
    repositories_url: `${apiOf(origin)}/installation/repositories`,
    html_url: installationPage(origin, installation),
    app_id: app.id,
    app_slug: app.slug,
    target_id: owner.id,
    target_type: owner.type,
    permissions: installation.permissions,
    events: installation.events,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    created_at: time(installation.createdAt),
    updated_at: time(installation.updatedAt),
    suspended_by: by ? simpleUser(origin, by) : null,
    suspended_at: suspended ? time(suspended.at) : null,
  }
}

/** The schema `integration`: an App as everybody may see it. The App itself also gets the number of its installations. */
export function appAnswer(origin: string, app: App, installationsCount?: number) {
  const owner = ownerOf(app.owner)
  if (!owner) throw new Error(`${app.owner} is not on this host.`)
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('App', app.id),
    client_id: app.clientId,
    owner: simpleUser(origin, owner),
    name: app.name,
    description: app.description,
    external_url: app.homepage,
    html_url: `${origin}/apps/${app.slug}`,
    created_at: time(app.createdAt),
    updated_at: time(app.updatedAt),
    permissions: app.permissions,
    events: app.events,
    ...(installationsCount === undefined ? {} : { installations_count: installationsCount }),
  }
}

/** The installations of the App that a person may know of: their own, and those of their organisations. */
export function installationsFor(state: GitHubState, app: App, person: Account): readonly Installation[] {
  const logins = [person.login, ...organizationsOf(person).map(({ login }) => login)]
  return state.installations.filter(
    (one) => one.appId === app.id && logins.some((login) => sameName(login, one.account)),
  )
}
