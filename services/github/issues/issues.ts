/**
 * Makes tasks from issues, for projects whose rule says so. After a delivery about an issue, the issues of its project are read within seconds.
 * Otherwise they are read from time to time with conditional requests. Runs in only one process. The log records accepted issues, so that each task
 * is made once.
 */
import { projectIssuesView } from '#domain/views/projectIssues.ts'
import { projectsView } from '#domain/views/projects.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { pagesOf } from '#platform/reads/documentPages.ts'
import { projectsOf, startReadings, type ReadingEngines, type ReadingTimes } from '../refresh/readings.ts'
import { memories } from './memory.ts'
import { round, type RoundDeps } from './readingRound.ts'

export type IssueEngines = RoundDeps & ReadingEngines

/** The intervals of reading issues, in milliseconds. */
export interface IssueTimes extends Omit<ReadingTimes, 'firstMs'> {
  /** The time between two checks of an issue that waits because an account or a permission is missing. */
  readonly passingMs: number
}

/** Derives the times from `everyMs`, the interval at which a pull request is read while somebody has it open. Issues are read half as often. */
export const issueTimes = (everyMs: number): IssueTimes => ({
  pollIntervalMs: everyMs * 2,
  burstPauseMs: 1_000,
  minIntervalMs: 10_000,
  passingMs: 600_000,
})

const maxOfRepository = 50

/** Reads issues and makes tasks until it is stopped. */
export function startIssues(engines: IssueEngines, times: IssueTimes): Promise<RunningWork> {
  const { documents } = engines
  const known = memories()
  return startReadings(engines, {
    times: { ...times, firstMs: times.pollIntervalMs },
    failed: 'failed to make tasks of issues',
    hintOf: ({ data, content }) => {
      const { repositoryId = null, issue = null } = content ?? {}
      const isOfIssue = data.event === 'issues' || data.event === 'issue_comment'
      // Hints about issues may be frequent, so they cause at most one reading per repository and interval.
      return isOfIssue && issue !== null && repositoryId !== null
        ? { repositoryId, hint: 'now and then' }
        : undefined
    },
    ofRepository: (githubRepoId) => projectsOf(documents, githubRepoId, maxOfRepository),
    one: (id) => documents.get(projectsView, id),
    pages: (limit, after) => pagesOf(documents, projectIssuesView, { where: { isRead: true }, limit, after }),
    begin: (isStopped) => round(engines, known, { isStopped, passingMs: times.passingMs }),
  })
}
