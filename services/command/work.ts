/** What the command service does by itself, beside answering: each in one process at a time, however many there are. */
import { codeHostName, type Config } from '#platform/config/config.ts'
import type { Engines } from '#platform/compose.ts'
import type { Held } from '#platform/ports/leases.ts'
import { startBlobSweep } from './cleanup/blobSweep.ts'
import { startDeliveryKeys } from './cleanup/deliveryKeys.ts'
import { startErasure } from './cleanup/erasure.ts'
import { startImageSweep } from './cleanup/imageSweep.ts'
import { startDispatcher } from './dispatcher.ts'
import { startFollowing } from './follow/following.ts'
import { addressForCodeHost } from '#platform/config/addresses.ts'
import { startTasksOfIssues } from './issues/issues.ts'
import { startOpenWorkSweep } from './openWork.ts'
import { startProjectSync } from './projectSync/projectSync.ts'
import { startRetriedUpdates } from './retriedUpdates.ts'
import { startRevocations } from './revocations.ts'
import { startRelatedTasks } from './relatedTasks.ts'

/** Starts all of it, in the order in which it stops last. */
export function startCommandWork(config: Config, engines: Engines): readonly Held[] {
  const { leases } = engines
  return [
    leases.hold('dispatcher', () => startDispatcher(engines)),
    leases.hold('open work', async () => startOpenWorkSweep(engines)),
    leases.hold('related tasks', async () => startRelatedTasks(engines)),
    startErasure(engines),
    leases.hold('images', () => startImageSweep(engines)),
    leases.hold('blobs', () => startBlobSweep(engines)),
    leases.hold('delivery keys', async () => startDeliveryKeys(engines)),
    leases.hold('project sync', () => startProjectSync(engines)),
    leases.hold('retried updates', () => startRetriedUpdates(engines)),
    leases.hold('revocations', () => startRevocations({ ...engines, codeHostName: codeHostName(config) })),
    startFollowing({ ...config, codeHostName: codeHostName(config) }, engines),
    startTasksOfIssues(
      { ...config, codeHostName: codeHostName(config), publicAddress: addressForCodeHost(config) },
      engines,
    ),
  ]
}
