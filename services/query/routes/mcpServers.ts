/** The routes that read the MCP servers of a project and of a person. */
import { getOwnMcpServers, getProjectMcpServers } from '#domain/api/mcpServers.schema.ts'
import { mcpServersView } from '#domain/views/mcpServers.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { ownProject, route, type QueryServices } from '../services.ts'

export const mcpServerRoutes: readonly Route<QueryServices>[] = [
  route(
    getProjectMcpServers,
    signedIn,
    fresh,
    ownProject,
    async ({ project }, { documents, mcpSignIns, rpc }) => {
      const asked = { projectId: project.id, ownerId: project.owner }
      const [document, answer] = await Promise.all([
        documents.get(mcpServersView, project.id),
        rpc.call('mcpSuggestions', asked, suggestedWithinMs).catch((fault: unknown) => {
          if (!(fault instanceof EngineUnavailable)) throw fault
        }),
      ])
      const servers = [...(document?.servers ?? [])]
      const names = new Set(servers.map(({ name }) => name.toLowerCase()))
      const suggestions = (answer?.suggestions ?? []).filter(({ name }) => !names.has(name.toLowerCase()))
      return { servers, suggestions, signIns: await mcpSignIns.shown(project.id, servers) }
    },
  ),
  route(getOwnMcpServers, signedIn, fresh, async ({ user }, { documents, mcpSignIns }) => {
    const servers = [...((await documents.get(mcpServersView, user.id))?.servers ?? [])]
    return { servers, signIns: await mcpSignIns.shown(user.id, servers) }
  }),
]

/** How long to wait for the suggested servers, which are not worth a long wait. */
const suggestedWithinMs = 3_000
