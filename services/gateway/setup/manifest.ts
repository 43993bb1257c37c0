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

/** The manifest of the App that is requested. Its addresses come from what the person confirmed, never from a request's headers. */
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
    // Left out without an address that GitHub reaches: with the block, GitHub would require one.
    ...(hooks && isReachable(origin) ? { hook_attributes: { url: at(webhookPath), active: true } } : {}),
    default_permissions: {
      ...neededPermissions,
      ...(workflows ? { workflows: optionalPermissions.workflows } : {}),
      ...(members ? { members: optionalPermissions.members } : {}),
    },
    default_events: Object.keys(wantedEvents),
  }
}

/** Whether GitHub accepts the address for a webhook: it refuses names and numeric addresses of this machine and of private networks. */
export function isReachable(origin: string): boolean {
  const { hostname } = new URL(origin)
  const isPrivate =
    /^(localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|0\.|\[)/.test(hostname) ||
    /\.(local|localhost|internal|lan|home|test)$/.test(hostname)
  return !isPrivate && hostname.includes('.')
}
