/** The github service: follows what happens at the code host, and acts on it. Each part runs in one process at a time, however many there are. */
import { addressForCodeHost } from '#platform/config/addresses.ts'
import { codeHostName, type Config } from '#platform/config/config.ts'
import type { Engines } from '#platform/compose.ts'
import type { Held } from '#platform/ports/leases.ts'
import { startTasksOfIssues } from './issues/issues.ts'
import { startProjectSync } from './projectSync/projectSync.ts'
import { startFollowing } from './pullRequests/following.ts'
import { startRelatedTasks } from './reactors/relatedTasks.ts'
import { startRetriedUpdates } from './reactors/retriedUpdates.ts'
import { startRevocations } from './reactors/revocations.ts'

/** Starts all of it, in the order in which it stops last. */
export function startGitHub(config: Config, engines: Engines): readonly Held[] {
  const { leases } = engines
  const named = { ...config, codeHostName: codeHostName(config) }
  return [
    leases.hold('related tasks', async () => startRelatedTasks(engines)),
    leases.hold('project sync', () => startProjectSync(engines)),
    leases.hold('retried updates', () => startRetriedUpdates(engines)),
    leases.hold('revocations', () => startRevocations({ ...engines, codeHostName: named.codeHostName })),
    startFollowing(named, engines),
    startTasksOfIssues({ ...named, publicAddress: addressForCodeHost(config) }, engines),
  ]
}
