/** The route that asks a runner to rebuild a project's environment: to run its setup command again for later tasks. */
import { rebuildProjectEnvironment } from '#domain/api/environment.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { ownProject, route, written, type CommandServices } from '../services.ts'

const timeoutMs = 5_000

export const environmentRoutes: readonly Route<CommandServices>[] = [
  route(rebuildProjectEnvironment, signedIn, ownProject, async ({ params, user }, services) => {
    const asked = { projectId: params.projectId, ownerId: user.id }
    const answer = await services.rpc.call('rebuildEnvironment', asked, timeoutMs)
    switch (answer?.kind) {
      case 'begun':
        return { state: 'building' as const, ...(await written(answer.position, services)) }
      case 'no_setup':
        throw new Fault(
          'nothing_to_run',
          'This project has no setup command, so there is nothing to prepare.',
        )
      case 'no_sandbox':
        throw new Fault(
          'nothing_to_run',
          'Agents run without a sandbox on this server. Each task then has paths of its own, so nothing can be prepared for all of them.',
        )
      case 'busy':
        throw new Fault('conflict', 'Other environments are being prepared. Try again in a few minutes.')
      case undefined:
        throw new Fault(
          'engine_unavailable',
          'No runner is free to prepare the environment. Try again in a moment.',
        )
    }
  }),
]
