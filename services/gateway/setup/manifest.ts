/** The manifest of our GitHub App: https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest */
import { neededPermissions, optionalPermissions, wantedEvents } from '#domain/appPermissions.ts'
import type { beginSetup } from '#domain/api/setup.schema.ts'
import type { BodyOf } from '#domain/api/call.schema.ts'
import { otherSignInRoutes } from '#domain/api/auth.ts'
import { webhookPath } from '#domain/api/server.ts'
import { setupRoutes } from '#domain/api/setup.ts'

type AppOptions = Pick<
  BodyOf<typeof beginSetup>,
  'name' | 'publicUrl' | 'hooks' | 'isPublic' | 'workflows' | 'members'
>

/** The manifest. Its addresses are made from the address that the administrator confirmed, never from headers of a request. */
export function manifestOf({ name, publicUrl, hooks, isPublic, workflows, members }: AppOptions) {
  const { origin } = new URL(publicUrl)
  const at = (path: string): string => `${origin}${path}`
  const callback = at(`/api${otherSignInRoutes.gitHubCallback.path}`)
  return {
    name,
    url: origin,
    redirect_url: at(`/api${setupRoutes.setupCallback.path}`),
    callback_urls: [callback],
    setup_url: callback,
    setup_on_update: true,
    public: isPublic,
    // Without an address that GitHub can reach, the whole block is left out: if it is present, GitHub requires the address.
    ...(hooks && isReachable(origin) ? { hook_attributes: { url: at(webhookPath), active: true } } : {}),
    default_permissions: {
      ...neededPermissions,
      ...(workflows ? { workflows: optionalPermissions.workflows } : {}),
      ...(members ? { members: optionalPermissions.members } : {}),
    },
    default_events: Object.keys(wantedEvents),
  }
}

/** Whether GitHub accepts the address for a webhook. It refuses names and numeric addresses of local machines and private networks. */
export function isReachable(origin: string): boolean {
  const { hostname } = new URL(origin)
  const isPrivate =
    /^(localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|0\.|\[)/.test(hostname) ||
    /\.(local|localhost|internal|lan|home|test)$/.test(hostname)
  return !isPrivate && hostname.includes('.')
}
