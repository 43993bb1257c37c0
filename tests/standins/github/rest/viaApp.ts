/** The App with which something was done. */
import { nodeId, simpleUser } from '../../../../services/codehost/rest/responses.ts'
import { actionsAppId } from '../checks/records.ts'
import type { GitHubState } from '../state.ts'
import { appAnswer } from './appAnswers.ts'

/** GitHub's own App for checks, on every host. */
const actionsApp = {
  id: actionsAppId,
  slug: 'github-actions',
  name: 'GitHub Actions',
  description: 'Reports checks on this code host',
  permissions: { checks: 'write', metadata: 'read' },
} as const

/** The schema `nullable-integration`. */
export function appWithId({ apps }: GitHubState, origin: string, id: number): object | null {
  const app = apps.find((one) => one.id === id)
  if (app) return appAnswer(origin, app)
  if (id !== actionsAppId) return null
  const at = '2024-01-01T00:00:00Z'
  return {
    ...actionsApp,
    node_id: nodeId('App', id),
    owner: simpleUser(origin, { type: 'Organization', id: 9919, login: 'github' }),
    external_url: origin,
    html_url: `${origin}/apps/${actionsApp.slug}`,
    created_at: at,
    updated_at: at,
    events: [],
  }
}
