/** Reads how a project's tasks run. */
import { getProjectSettings } from '#domain/api/projectSettings.ts'
import { projectSettingsView, settingsOf } from '#domain/views/projectSettings.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { ownProject, route, type QueryServices } from '../services.ts'

export const projectSettingsRoutes: readonly Route<QueryServices>[] = [
  route(getProjectSettings, signedIn, fresh, ownProject, async ({ project }, { documents }) => ({
    settings: settingsOf(await documents.get(projectSettingsView, project.id)),
    suggestions: [],
  })),
]
