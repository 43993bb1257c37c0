/** The routes that begin, finish and end sign-ins at remote MCP servers. Tokens are stored in the vault, and never in an event. */
import {
  beginOwnMcpSignIn,
  beginProjectMcpSignIn,
  endOwnMcpSignIn,
  endProjectMcpSignIn,
  finishMcpSignIn,
} from '#domain/api/mcpServers.schema.ts'
import { mcpCallbackPath } from '#domain/api/mcpServers.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { signedIn, type Person } from '#platform/http/guards.ts'
import { isLoopback } from '#platform/http/addressReach.ts'
import type { Route } from '#platform/http/route.ts'
import { chosenServers, type McpOwner } from '#platform/mcp/chosenServers.ts'
import { ownProject, route, type CommandServices } from '../services.ts'

export const mcpSignInRoutes: readonly Route<CommandServices>[] = [
  route(
    beginProjectMcpSignIn,
    signedIn,
    ownProject,
    async ({ params: { projectId: id, serverId }, ...request }, services) =>
      begin(services, { of: 'project', id, serverId }, request),
  ),
  route(
    endProjectMcpSignIn,
    signedIn,
    ownProject,
    async ({ params: { projectId: id, serverId } }, services) =>
      end(services, { of: 'project', id, serverId }),
  ),
  route(beginOwnMcpSignIn, signedIn, async ({ params: { serverId }, ...request }, services) =>
    begin(services, { of: 'person', id: request.user.id, serverId }, request),
  ),
  route(endOwnMcpSignIn, signedIn, async ({ params: { serverId }, user: { id } }, services) =>
    end(services, { of: 'person', id, serverId }),
  ),
  route(finishMcpSignIn, signedIn, async (request, services) => {
    const query = new URLSearchParams(request.body.query)
    const { user, sessionId } = request
    const begun = await services.mcpSignIns.begun({ userId: user.id, sessionId }, query)
    const { of, id, serverId, name, url } = begun.place
    if (of === 'project') await ownProject({ ...request, params: { projectId: id } }, services)
    // The MCP server may have been changed or removed since the sign-in began.
    if ((await signInServer(services, begun.place, serverId)).url !== url)
      throw new Fault('not_found', noServer)
    await services.mcpSignIns.complete(begun, query)
    return { name, projectId: of === 'project' ? id : null }
  }),
]

const noServer = 'There is no such server to sign in at.'

type OfOwner = McpOwner & { readonly serverId: string }

async function begin(
  services: CommandServices,
  { serverId, ...owner }: OfOwner,
  { user, sessionId, body }: Person & { readonly body: { readonly origin: string } },
) {
  const { name, url, auth } = await signInServer(services, owner, serverId)
  const client = { clientId: auth.clientId, redirectUri: originOf(services, body.origin) + mcpCallbackPath }
  const by = { userId: user.id, sessionId }
  return { url: await services.mcpSignIns.begin({ ...owner, serverId, name, url }, by, client) }
}

async function end(services: CommandServices, { serverId, ...owner }: OfOwner) {
  await signInServer(services, owner, serverId)
  await services.mcpSignIns.end(owner.id, serverId)
  return { success: true as const }
}

async function signInServer({ commands }: CommandServices, owner: McpOwner, serverId: string) {
  const server = (await chosenServers(commands, owner)).find(({ id }) => id === serverId)
  if (server?.kind !== 'remote' || server.auth.kind !== 'oauth') throw new Fault('not_found', noServer)
  return { ...server, auth: server.auth }
}

/**
 * The origin to which a sign-in returns: the public address of this server. Without a public address, only an `origin` on loopback is accepted,
 * because authorization codes are sent there.
 */
function originOf({ publicUrl }: CommandServices, origin: string): string {
  if (publicUrl !== null) return new URL(publicUrl).origin
  const page = new URL(origin)
  if (isLoopback(page.hostname)) return page.origin
  throw new Fault(
    'mcp_sign_in_failed',
    'This server does not know its own address, to which the sign-in would return. Its operator can set it with PUBLIC_URL.',
  )
}
