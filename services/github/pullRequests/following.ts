/** Starts what follows pull requests at the code host: the follower, which reads, and what answers there. Each runs in one process. */
import { admission } from '#platform/commands/admission.ts'
import type { Leases } from '#platform/ports/leases.ts'
import type { Held } from '#platform/ports/leases.ts'
import { startAnswering, type AnsweringEngines } from '../feedback/answering.ts'
import { feedbackReader } from '../feedback/feedback.ts'
import type { FeedbackDeps } from '../feedback/feedbackReading.ts'
import { startFollower, timesFor, type FollowerEngines } from './pullRequestFollower.ts'
import { readAccess, type AccessDeps } from '../access/access.ts'

type Engines = Omit<FollowerEngines, 'tokenFor' | 'feedback'> &
  Omit<FeedbackDeps, 'admission' | 'codeHostName'> &
  AnsweringEngines &
  AccessDeps &
  Omit<Parameters<typeof admission>[0], 'tasksAtOnce'> & { readonly leases: Pick<Leases, 'hold'> }

interface Following {
  readonly following: { readonly everyMs: number; readonly gatherMs: number }
  readonly tasksAtOnce: number
  readonly codeHostName: string
}

/** Follows until it is stopped. */
export function startFollowing(
  { following: { everyMs, gatherMs }, tasksAtOnce, codeHostName }: Following,
  engines: Engines,
): Held {
  const feedback = feedbackReader(
    { ...engines, admission: admission({ ...engines, tasksAtOnce }), codeHostName },
    gatherMs,
  )
  const following = { ...engines, feedback, tokenFor: readAccess(engines) }
  const follower = engines.leases.hold('follower', () => startFollower(following, timesFor(everyMs)))
  const answering = engines.leases.hold('answering', () => startAnswering(engines, everyMs * 2))
  return {
    async stop() {
      await Promise.all([follower.stop(), answering.stop()])
    },
  }
}
