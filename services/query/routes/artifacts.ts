/** The route that lists the files that a task's agent left for people. */
import { listArtifacts } from '#domain/api/artifacts.schema.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { artifactsOf } from '#platform/reads/artifacts.ts'
import { ownTask, route, type QueryServices } from '../services.ts'

export const artifactRoutes: readonly Route<QueryServices>[] = [
  route(listArtifacts, signedIn, fresh, ownTask, async ({ task }, { documents, imageAddresses }) => {
    return { artifacts: await artifactsOf(documents, task.id, imageAddresses.addressOf) }
  }),
]
