/** Work that only one process may do at a time. */
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Leases } from '#platform/ports/leases.ts'

/** How long work waits for its turn, in milliseconds: twice as long as calls to the code host may take. */
const patienceMs = 30_000

/** Does the work once, while no other process works under this name. Throws `EngineUnavailable` when its turn does not come within 30 s. */
export function alone<T>(leases: Pick<Leases, 'hold'>, name: string, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let begun: Promise<unknown> | undefined
    const held = leases.hold(name, async () => {
      // If the lease is lost and obtained again, the work is not done twice.
      begun ??= work().then(resolve, reject)
      void begun.then(() => held.stop())
      return { stop: async () => void (await begun) }
    })
    setTimeout(() => {
      if (begun !== undefined) return
      void held.stop()
      reject(new EngineUnavailable(`The lease for the ${name}`))
    }, patienceMs).unref()
  })
}
