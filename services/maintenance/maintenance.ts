/** The maintenance service: erases what was deleted, and sweeps leftovers. Each sweep runs in only one process at a time. */
import type { Engines } from '#platform/compose.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { startBlobSweep } from './blobSweep.ts'
import { startDeliveryKeys } from './deliveryKeys.ts'
import { startErasure } from './erasure.ts'
import { startImageSweep } from './imageSweep.ts'
import { startOpenWorkSweep } from './openWork.ts'

/** Starts all parts except the sealer. They are stopped in the opposite order. */
export function startMaintenance(engines: Engines): readonly RunningWork[] {
  const { leases } = engines
  return [
    leases.hold('open work', async () => startOpenWorkSweep(engines)),
    startErasure(engines),
    leases.hold('images', async () => startImageSweep(engines)),
    leases.hold('blobs', async () => startBlobSweep(engines)),
    leases.hold('delivery keys', async () => startDeliveryKeys(engines)),
  ]
}
