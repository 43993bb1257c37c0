/** Reads how a project's tasks run. */
import { getProjectSettings, type HostSuggestion } from '#domain/api/projectSettings.schema.ts'
import type { ProjectDocument } from '#domain/views/projects.ts'
import { projectSettingsView, settingsOf } from '#domain/views/projectSettings.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Route } from '#platform/http/route.ts'
import { ownProject, route, type QueryServices } from '../services.ts'

export const projectSettingsRoutes: readonly Route<QueryServices>[] = [
  route(getProjectSettings, signedIn, fresh, ownProject, async ({ project }, services) => {
    const [document, suggestions] = await Promise.all([
      services.documents.get(projectSettingsView, project.id),
      suggestionsFor(project, services),
    ])
    return { settings: settingsOf(document), suggestions }
  }),
]

/** Suggestions are no reason to wait for long. */
const suggestedWithinMs = 3_000

async function suggestionsFor(
  { id: projectId, owner: ownerId }: ProjectDocument,
  { rpc }: QueryServices,
): Promise<HostSuggestion[]> {
  try {
    const answer = await rpc.ask('hosts', { projectId, ownerId }, suggestedWithinMs)
    return [...(answer?.suggestions ?? [])]
  } catch (fault) {
    if (fault instanceof EngineUnavailable) return []
    throw fault
  }
}
