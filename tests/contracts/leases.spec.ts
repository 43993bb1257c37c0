import { openInProcessLeases } from '#platform/leases/inProcess.ts'
import { leasesContract } from './leases.contract.ts'

leasesContract('in process', async () => {
  const faults: string[] = []
  const leases = openInProcessLeases({ onFault: (what) => faults.push(what) })
  return { leases, elsewhere: leases, faults, close: () => leases.close() }
})
