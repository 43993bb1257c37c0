/** Loads the code of services before it is needed, while the programs answer that a start has to wait for. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ServiceName } from '#platform/config/variables.ts'

/**
 * Loads the code of the services, which takes a quarter of a start. After each part, the programs that were started before are served: the trial of a
 * sandbox takes several turns of the event loop to begin.
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
