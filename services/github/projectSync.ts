/**
 * Keeps projects in step with their repositories at the code host: within about a minute after a delivery hints at a change, and otherwise from time
 * to time. Only changes are recorded. A repository is read by its number and with the access of the project's owner, since an installation of the App
 * may see more or less than the owner.
 */
import type { DeliveredEvent } from '#domain/webhookDelivery.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { atMost } from '#platform/atMost.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { pagesOf } from '#platform/reads/documentPages.ts'
import type { Hint } from './refresh/hints.ts'
import {
  projectsOf,
  startReadings,
  type ReadingEngines,
  type ReadingTimes,
  type Round,
} from './refresh/readings.ts'
import { LRUCache } from 'lru-cache'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Engines } from '#platform/compose.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import { ownAccess } from './access.ts'
import { isNews, readProject, type Reading } from '#platform/reads/repositoryReading.ts'

interface ProjectSyncEngines extends RoundDeps, Omit<ReadingEngines, 'logger'> {
  readonly documents: Pick<Documents, 'find' | 'get'>
}

const projectSyncTimes: ReadingTimes = {
  firstMs: 30_000,
  pollIntervalMs: 1_800_000,
  burstPauseMs: 2_000,
  minIntervalMs: 60_000,
}

/**
 * How soon a repository's projects are read after an event. A push says little about a project and comes often, so it causes a reading only now and
 * then.
 */
const about: Partial<Record<DeliveredEvent, Hint>> = { repository: 'soon', push: 'now and then' }
const aboutAll: ReadonlySet<DeliveredEvent> = new Set(['installation', 'installation_repositories'])
/** The most projects of one repository that are read; each person can have one project of it. */
const maxOfRepository = 1_000

/** Syncs projects until it is stopped. */
export function startProjectSync(
  engines: ProjectSyncEngines,
  times: ReadingTimes = projectSyncTimes,
): Promise<RunningWork> {
  const { documents } = engines
  const known = tags()
  return startReadings(engines, {
    times,
    failed: 'failed to sync projects with the code host',
    hintOf: ({ data, content }) => {
      // An event about an installation names an account, and so may concern any project.
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

export interface RoundDeps extends Pick<Engines, 'clock' | 'logger'> {
  readonly commands: Pick<Commands, 'execute'>
  readonly rpc: Pick<Rpc, 'call'>
  readonly codeHost: Pick<CodeHost, 'repositoryById' | 'repository' | 'allowance'>
  readonly access: Pick<HostAccess, 'tokenOf'>
}

/** For each project, the ETag of the last reading. */
export type Tags = LRUCache<string, string>
export const tags = (): Tags => new LRUCache(atMost(maxTags))

const maxTags = 5_000
const tellTimeoutMs = 5_000
/** After this many failures in a row, the code host counts as unavailable. A single failure may be caused by the repository. */
const maxUnavailable = 3

/** Starts a round that records changes. A fault of one project, or of one person's access, does not stop the others. `isStopped` ends the round. */
export function round(deps: RoundDeps, known: Tags, isStopped: () => boolean): Round<ProjectDocument> {
  const own = ownAccess(deps)
  /** Owners whose rate limit is used up. */
  const limited = new Set<string>()
  let unavailable = 0
  const isOver = () => isStopped() || unavailable >= maxUnavailable

  async function sync(document: ProjectDocument): Promise<'done' | 'later'> {
    const { id, owner, status } = document
    if (isOver() || limited.has(owner)) return 'later'
    const etag = status === 'active' ? known.get(id) : undefined
    const read = await readProject(document, own(owner).token, {
      codeHost: deps.codeHost,
      ...(etag === undefined ? {} : { etag }),
    })
    const failure = read === 'unchanged' ? null : failureOf(read)
    unavailable = failure === 'unavailable' ? unavailable + 1 : 0
    if (failure === 'rate_limited') limited.add(owner)
    if (failure === 'rate_limited' || failure === 'unavailable') return 'later'
    if (read === 'unchanged') return 'done'
    await keep(document, read)
    if (failure === null) tellRunners(document)
    return 'done'
  }
  /** Tells the runners once, without waiting. If the call fails, a task whose lock files differ runs the setup anyway. */
  function tellRunners({ id: projectId, owner: ownerId }: ProjectDocument): void {
    deps.rpc
      .call('repositoryChanged', { projectId, ownerId }, tellTimeoutMs)
      .catch((fault: unknown) =>
        deps.logger.debug({ err: fault, projectId }, 'failed to tell the runners of a change'),
      )
  }
  async function keep(document: ProjectDocument, read: Reading): Promise<void> {
    const { id } = document
    if (isNews(document, read))
      for (const command of [...read.before, read.last])
        await deps.commands.execute(projectDecider, projectStream(id), command, bySystem('project-sync'))
    if (read.etag === null) known.delete(id)
    else known.set(id, read.etag)
  }
  return {
    isOver,
    async read(document) {
      try {
        return await sync(document)
      } catch (fault) {
        if (fault instanceof EngineUnavailable) throw fault
        // A fault of one project, such as a history that cannot be read, is only logged. A project that was deleted in the meantime is no fault.
        if (!(fault instanceof Fault && fault.code === 'not_found'))
          deps.logger.warn({ err: fault, projectId: document.id }, 'failed to sync a project')
        return 'done'
      }
    },
  }
}

const failureOf = ({ last }: Reading): string | null => (last.type === 'RecordSyncFailure' ? last.code : null)
