/** Loads the code of services while a start waits for other programs to answer. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ServiceName } from '#platform/config/variables.ts'

/**
 * Loads the code of the services, which takes a quarter of a start. Yields to the event loop after each part, so that the trial of a sandbox, begun
 * before, goes on.
 */
export async function loadCode(services: ReadonlySet<ServiceName>): Promise<void> {
  const code: Partial<Record<ServiceName, readonly (() => Promise<unknown>)[]>> = {
    query: [() => import('./query/projection/projector.ts'), () => import('./query/query.ts')],
    command: [() => import('./command/dispatcher.ts'), () => import('./command/command.ts')],
    maintenance: [() => import('./maintenance/maintenance.ts')],
    github: [() => import('./github/github.ts')],
    gateway: [() => import('./gateway/gateway.ts')],
    runner: [() => import('./runner/runner.ts')],
  }
  for (const load of [...services].flatMap((service) => code[service] ?? [])) {
    await load()
    await nextTurn()
  }
}
