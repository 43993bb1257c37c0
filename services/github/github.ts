/** The github service: follows what happens at the code host, and reacts to it. Each part runs in only one process at a time. */
import { admission } from '#platform/commands/admission.ts'
import { addressForCodeHost } from '#platform/config/addresses.ts'
import { codeHostName, type Config } from '#platform/config/config.ts'
import type { Engines } from '#platform/compose.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { readAccess } from './access.ts'
import { startReplyWriter } from './feedback/replyWriter.ts'
import { feedbackReader } from './feedback/feedback.ts'
import { issueTimes, startIssues } from './issues/issues.ts'
import { startTaskComments } from './issues/taskComment.ts'
import { startProjectSync } from './projectSync.ts'
import { startFollower, timesFor } from './pullRequests/pullRequestFollower.ts'
import { startRelatedTasks } from './reactors/relatedTasks.ts'
import { startRetriedUpdates } from './reactors/retriedUpdates.ts'
import { startRevocations } from './reactors/revocations.ts'

/** Starts all parts of this service. They are stopped in the opposite order. */
export function startGitHub(config: Config, engines: Engines): readonly RunningWork[] {
  const { leases } = engines
  const { everyMs, gatherMs } = config.following
  const named = { ...engines, codeHostName: codeHostName(config) }
  const reading = {
    ...named,
    admission: admission({ ...engines, tasksAtOnce: config.tasksAtOnce }),
    tokenFor: readAccess(engines),
  }
  const following = { ...reading, feedback: feedbackReader(reading, gatherMs) }
  const linking = { ...engines, publicAddress: addressForCodeHost(config) }
  return [
    leases.hold('related tasks', () => startRelatedTasks(engines)),
    leases.hold('project sync', () => startProjectSync(engines)),
    leases.hold('retried updates', () => startRetriedUpdates(engines)),
    leases.hold('revocations', () => startRevocations(named)),
    leases.hold('follower', () => startFollower(following, timesFor(everyMs))),
    leases.hold('answering', () => startReplyWriter(engines, everyMs * 2)),
    leases.hold('issues', () => startIssues(reading, issueTimes(everyMs))),
    leases.hold('issue links', () => startTaskComments(linking, everyMs * 2)),
  ]
}
