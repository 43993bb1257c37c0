/** The maintenance service: erases what was deleted and sweeps up what is left over. Each part runs in one process at a time, however many there are. */
import type { Engines } from '#platform/compose.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { startBlobSweep } from './blobSweep.ts'
import { startDeliveryKeys } from './deliveryKeys.ts'
import { startErasure } from './erasure.ts'
import { startImageSweep } from './imageSweep.ts'
import { startOpenWorkSweep } from './openWork.ts'

/** Starts all of it but the sealer, in the order in which it stops last. */
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
