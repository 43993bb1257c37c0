/** What makes tasks of issues, and tells the issues of them. Each in one process. */
import type { Leases } from '#platform/ports/leases.ts'
import type { Held } from '#platform/ports/leases.ts'
import { admission } from '../admission.ts'
import { readAccess, type AccessDeps } from '../follow/access.ts'
import { issueTimes, startIssues, type IssueEngines } from './issues.ts'
import { startLinking, type LinkingEngines } from './linking.ts'

type Engines = Omit<IssueEngines, 'tokenFor' | 'admission' | 'codeHostName'> &
  Omit<LinkingEngines, 'publicAddress'> &
  AccessDeps &
  Omit<Parameters<typeof admission>[0], 'tasksAtOnce'> & { readonly leases: Pick<Leases, 'hold'> }

interface Settings {
  readonly following: { readonly everyMs: number }
  readonly tasksAtOnce: number
  readonly codeHostName: string
  readonly publicAddress: string
}

/** Goes on until it is stopped. */
export function startTasksOfIssues(
  { following: { everyMs }, tasksAtOnce, codeHostName, publicAddress }: Settings,
  engines: Engines,
): Held {
  const making = {
    ...engines,
    admission: admission({ ...engines, tasksAtOnce }),
    tokenFor: readAccess(engines),
    codeHostName,
  }
  const issues = engines.leases.hold('issues', () => startIssues(making, issueTimes(everyMs)))
  const linking = engines.leases.hold('issue links', () =>
    startLinking({ ...engines, publicAddress }, everyMs * 2),
  )
  return {
    async stop() {
      await Promise.all([issues.stop(), linking.stop()])
    },
  }
}
