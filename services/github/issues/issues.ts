/**
 * Makes tasks of issues for projects that want it: issues that a delivery hints at are read within seconds, all such projects from time to time,
 * with conditional requests. In one process. The log records what was taken, so that each task is made once.
 */
import { projectIssuesView } from '#domain/views/projectIssues.ts'
import { projectsView } from '#domain/views/projects.ts'
import type { Held, Leases } from '#platform/ports/leases.ts'
import { admission } from '#platform/commands/admission.ts'
import { readAccess, type AccessDeps } from '../access/access.ts'
import { startReadings, type ReadingEngines, type ReadingTimes } from '../refresh/readings.ts'
import { startLinking, type LinkingEngines } from './linking.ts'
import { memories } from './memory.ts'
import { round, type RoundDeps } from './round.ts'

export type IssueEngines = RoundDeps & ReadingEngines

/** In milliseconds. */
export interface IssueTimes extends Omit<ReadingTimes, 'firstMs'> {
  /** Between two checks of an issue that waits for a missing account or right. */
  readonly passingMs: number
}

/** The times that go with a given poll interval for pull requests whose page is open. */
export const issueTimes = (everyMs: number): IssueTimes => ({
  allMs: everyMs * 2,
  restMs: 1_000,
  againMs: 10_000,
  passingMs: 600_000,
})

const mostOfRepository = 50

/** Reads and makes until it is stopped. */
export function startIssues(engines: IssueEngines, times: IssueTimes): Promise<Held> {
  const { documents } = engines
  const known = memories()
  return startReadings(engines, {
    times: { ...times, firstMs: times.allMs },
    failed: 'failed to make tasks of issues',
    hintOf: ({ data, content }) => {
      const { repositoryId = null, issue = null } = content ?? {}
      const isOfIssue = data.event === 'issues' || data.event === 'issue_comment'
      // Many hints do not cause more reads, as with pushes.
      return isOfIssue && issue !== null && repositoryId !== null
        ? { repositoryId, hint: 'now and then' }
        : undefined
    },
    ofRepository: (githubRepoId) =>
      documents.find(projectsView, {
        where: { githubRepoId },
        sort: { field: 'order', direction: 'ascending' },
        limit: mostOfRepository,
      }),
    one: (id) => documents.get(projectsView, id),
    page: (limit, after) =>
      documents.find(projectIssuesView, {
        where: { isRead: true },
        sort: { field: 'order', direction: 'ascending' },
        limit,
        ...(after ? { after } : {}),
      }),
    begin: (isStopped) => round(engines, known, { isStopped, passingMs: times.passingMs }),
  })
}

type TasksOfIssuesEngines = Omit<IssueEngines, 'tokenFor' | 'admission' | 'codeHostName'> &
  Omit<LinkingEngines, 'publicAddress'> &
  AccessDeps &
  Omit<Parameters<typeof admission>[0], 'tasksAtOnce'> & { readonly leases: Pick<Leases, 'hold'> }

interface Settings {
  readonly following: { readonly everyMs: number }
  readonly tasksAtOnce: number
  readonly codeHostName: string
  readonly publicAddress: string | null
}

/** Makes tasks of issues, and comments on the issues about them, each in one process, until it is stopped. */
export function startTasksOfIssues(
  { following: { everyMs }, tasksAtOnce, codeHostName, publicAddress }: Settings,
  engines: TasksOfIssuesEngines,
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
