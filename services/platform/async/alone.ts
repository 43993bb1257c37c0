/** Work that only one process may do at a time. */
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Leases } from '#platform/ports/leases.ts'

/** The longest wait for a lease: twice as long as a call to the code host may take. */
const patienceMs = 30_000

/**
 * Does the work once, and not at the same time as other work of the same `name`, as far as `leases` prevents that. Throws `EngineUnavailable` when
 * it cannot begin in 30 s.
 */
export function alone<T>(leases: Pick<Leases, 'hold'>, name: string, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let begun: Promise<unknown> | undefined
    const held = leases.hold(name, async () => {
      // This callback runs again when the lease was lost and then renewed, but the work must be done only once.
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
