/** Webhook payloads about an App's own installations, in the form of `@octokit/webhooks-examples`. */
import { botOf, organizationOf, ownerOf, personOf } from '../../../../services/codehost/state/accounts.ts'
import type { AppEvent } from '../apps/events.ts'
import { repositoriesOn } from '../apps/installations.ts'
import { nodeId, organizationSimple, simpleUser } from '../../../../services/codehost/rest/responses.ts'
import { installationAnswer } from '../rest/appAnswers.ts'
import type { Repository } from '../../../../services/codehost/state/stateSchema.ts'
import type { Installation } from '../state.ts'

/** The payload of an event, according to the current state. */
export function appPayloadOf(origin: string, repositories: readonly Repository[], event: AppEvent): object {
  const sender = simpleUser(origin, event.sender ?? botOf(event.app.slug))
  if (event.kind === 'github_app_authorization') return { action: event.action, sender }
  const { installation, app } = event
  const owner = ownerOf(installation.account)
  if (!owner) throw new Error(`${installation.account} is not on this host.`)
  const organization = organizationOf(owner.login)
  const around = {
    action: event.action,
    installation: installationAnswer(origin, installation, app, owner),
    sender,
    ...(organization ? { organization: organizationSimple(origin, organization) } : {}),
  }
  if (event.kind === 'installation') {
    const requester = event.requester === null ? undefined : personOf(event.requester)
    return {
      ...around,
      repositories: repositoriesOn(repositories, installation).map(brief),
      requester: requester ? simpleUser(origin, requester) : null,
    }
  }
  return {
    ...around,
    repository_selection: selectionOf(installation),
    repositories_added: event.added.map(brief),
    repositories_removed: event.removed.map(brief),
    requester: null,
  }
}

const selectionOf = ({ repositoryIds }: Installation): 'all' | 'selected' =>
  repositoryIds === null ? 'all' : 'selected'

const brief = ({ id, owner, name, isPrivate }: Repository) => ({
  id,
  node_id: nodeId('Repository', id),
  name,
  full_name: `${owner}/${name}`,
  private: isPrivate,
})
