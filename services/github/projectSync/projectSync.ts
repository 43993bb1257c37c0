/**
 * Keeps projects in step with their repositories at the code host: those that a delivery hints at within seconds, all others from time to time.
 * Only what is new is recorded. A repository is read by its number, with the access of the project's owner: an installation of the App may still
 * see what they no longer do, or the other way round.
 */
import type { DeliveredEvent } from '#domain/delivery.ts'
import { projectsView } from '#domain/views/projects.ts'
import type { Held } from '#platform/ports/leases.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { pagesOf } from '#platform/reads/pages.ts'
import type { Hint } from '../refresh/hints.ts'
import { projectsOf, startReadings, type ReadingEngines, type ReadingTimes } from '../refresh/readings.ts'
import { round, tags, type RoundDeps } from './round.ts'

export interface ProjectSyncEngines extends RoundDeps, Omit<ReadingEngines, 'logger'> {
  readonly documents: Pick<Documents, 'find' | 'get'>
}

export const projectSyncTimes: ReadingTimes = {
  firstMs: 30_000,
  allMs: 1_800_000,
  restMs: 2_000,
  againMs: 60_000,
}

/** A push says little of a project, and comes often. */
const about: Partial<Record<DeliveredEvent, Hint>> = { repository: 'soon', push: 'now and then' }
const aboutAll: ReadonlySet<DeliveredEvent> = new Set(['installation', 'installation_repositories'])
/** Projects of one repository: one a person. */
const maxOfRepository = 1_000

/** Syncs until it is stopped. */
export function startProjectSync(
  engines: ProjectSyncEngines,
  times: ReadingTimes = projectSyncTimes,
): Promise<Held> {
  const { documents } = engines
  const known = tags()
  return startReadings(engines, {
    times,
    failed: 'failed to sync projects with the code host',
    hintOf: ({ data, content }) => {
      // The event names the account, not our projects.
      if (aboutAll.has(data.event)) return 'all'
      const repositoryId = content?.repositoryId ?? null
      const hint = about[data.event]
      return hint !== undefined && repositoryId !== null ? { repositoryId, hint } : undefined
    },
    ofRepository: (githubRepoId) => projectsOf(documents, githubRepoId, maxOfRepository),
    one: (id) => documents.get(projectsView, id),
    pages: (limit, after) => pagesOf(documents, projectsView, { where: {}, limit, after }),
    begin: (isStopped) => round(engines, known, isStopped),
  })
}
