/**
 * Creates tasks from issues for projects that want this. Issues in a delivery are read within seconds, and all such projects are read from time to
 * time, with conditional requests. Runs in one process. The log records which issues were accepted, so that each task is created once.
 */
import { projectIssuesView } from '#domain/views/projectIssues.ts'
import { projectsView } from '#domain/views/projects.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { pagesOf } from '#platform/reads/pages.ts'
import { projectsOf, startReadings, type ReadingEngines, type ReadingTimes } from '../refresh/readings.ts'
import { memories } from './memory.ts'
import { round, type RoundDeps } from './round.ts'

export type IssueEngines = RoundDeps & ReadingEngines

/** The times of reading issues, in milliseconds. */
export interface IssueTimes extends Omit<ReadingTimes, 'firstMs'> {
  /** Between two checks of an issue that waits for a missing account or right. */
  readonly passingMs: number
}

/** The times for a given poll interval for pull requests whose page is open. */
export const issueTimes = (everyMs: number): IssueTimes => ({
  pollIntervalMs: everyMs * 2,
  burstPauseMs: 1_000,
  minIntervalMs: 10_000,
  passingMs: 600_000,
})

const maxOfRepository = 50

/** Reads issues and creates tasks until it is stopped. */
export function startIssues(engines: IssueEngines, times: IssueTimes): Promise<RunningWork> {
  const { documents } = engines
  const known = memories()
  return startReadings(engines, {
    times: { ...times, firstMs: times.pollIntervalMs },
    failed: 'failed to make tasks of issues',
    hintOf: ({ data, content }) => {
      const { repositoryId = null, issue = null } = content ?? {}
      const isOfIssue = data.event === 'issues' || data.event === 'issue_comment'
      // Many hints do not cause more reads, as with pushes.
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
