/** The work queue, told of to whoever watches. */
import type { Delivery, Jobs } from '#platform/ports/jobs.ts'
import type { Emit } from './telemetry.ts'

/** The same queue; what became of each delivery is told when its worker is done with it. */
export function observedJobs(jobs: Jobs, emit: Emit): Jobs {
  return {
    ...jobs,
    work: (kind, options, handle) =>
      jobs.work(kind, options, async (delivery) => {
        const tell = (outcome: 'done' | 'given_back' | 'set_aside' | 'failed') =>
          emit({ kind: 'delivery', job: kind, outcome })
        try {
          await handle(telling(delivery, tell))
        } catch (fault) {
          tell('failed')
          throw fault
        }
      }),
  }
}

function telling(delivery: Delivery, tell: (outcome: 'done' | 'given_back' | 'set_aside') => void): Delivery {
  return {
    job: delivery.job,
    attempt: delivery.attempt,
    working: () => delivery.working(),
    async ack() {
      await delivery.ack()
      tell('done')
    },
    async nak(delayMs) {
      await delivery.nak(delayMs)
      tell('given_back')
    },
    async reject(fault) {
      await delivery.reject(fault)
      tell('set_aside')
    },
  }
}
