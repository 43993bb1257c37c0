/** The route that reads a project's environment, which its setup command made for new tasks. */
import { getProjectEnvironment } from '#domain/api/environment.schema.ts'
import { projectEnvironmentsView, shownEnvironment } from '#domain/views/projectEnvironments.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { ownProject, route, type QueryServices } from '../services.ts'

export const environmentRoutes: readonly Route<QueryServices>[] = [
  route(getProjectEnvironment, signedIn, fresh, ownProject, async ({ project }, { documents }) =>
    shownEnvironment(await documents.get(projectEnvironmentsView, project.id)),
  ),
]
