/** The projects: one document per project. The document has no counts of tasks, which the server adds when it answers a request. */
import type { Project } from '../api/projects.schema.ts'
import { sortKey } from '../kernel/event.ts'
import { ownDocument, type View } from './view.ts'

export interface ProjectDocument extends Omit<Project, 'stats' | 'isOrganization' | 'statusReason'> {
  readonly owner: string
  readonly syncingSince: string | null
  readonly statusReason: string | null
  readonly githubRepoId: string
  /** The position of the creation as a text by which projects are sorted. */
  readonly order: string
  readonly version: number
}

export const projectsView: View<ProjectDocument> = {
  collection: 'projects',
  version: 1,
  streams: ['project'],
  indexes: [['owner', 'order'], ['owner', 'githubRepoId'], ['githubRepoId', 'order'], ['order']],
  touches: ownDocument('project'),
  evolve: (project, event, id) => {
    if (event.type === 'ProjectCreated') {
      const { ownerId, isPrivate } = event.data
      return {
        id,
        owner: ownerId,
        githubRepoId: event.content?.githubRepoId ?? '',
        name: event.content?.name ?? '',
        description: event.content?.description ?? '',
        status: 'active',
        statusReason: null,
        syncingSince: null,
        isPrivate,
        language: event.content?.language ?? null,
        githubUrl: event.content?.githubUrl ?? '',
        githubOwner: event.content?.githubOwner ?? '',
        githubRepoName: event.content?.githubRepoName ?? '',
        defaultBranch: event.content?.defaultBranch ?? 'main',
        lastSync: event.at,
        createdAt: event.at,
        order: sortKey(event.position),
        position: event.position,
        version: event.revision,
      }
    }
    if (project === undefined) return undefined
    const seen = { ...project, version: event.revision }
    switch (event.type) {
      case 'ProjectUpdated':
        return { ...seen, ...event.content }
      case 'ProjectSyncStarted':
        return { ...seen, syncingSince: event.at }
      case 'ProjectSynced':
        return {
          ...seen,
          syncingSince: null,
          statusReason: null,
          ...event.content,
          isPrivate: event.data.isPrivate,
          status: 'active',
          lastSync: event.at,
        }
      case 'ProjectSyncFailed':
        return {
          ...seen,
          syncingSince: null,
          status: outOfReach.has(event.data.code) ? 'inactive' : 'error',
          statusReason: event.content?.reason ?? null,
        }
      case 'ProjectDeleted':
        return undefined
      default:
        return seen
    }
  },
}

/** Codes of failed syncs after which a project is inactive: the repository is gone, inaccessible or read-only. */
const outOfReach = new Set(['not_found', 'unauthorized', 'github_not_connected', 'archived'])

/**
 * The longest time that a sync can take, in milliseconds: the timeouts of its requests to the code host add up to less. If a sync began longer ago
 * and has no result, the server crashed during it.
 */
const longestSyncMs = 90_000

/** The project as the API shows it. `login` is the person's own account name at the code host. */
export function projectOf(
  document: ProjectDocument,
  {
    stats,
    login,
    now,
  }: { readonly stats: Project['stats']; readonly login: string | null; readonly now: Date },
): Project {
  const {
    owner: _owner,
    order: _order,
    githubRepoId: _githubRepoId,
    version: _version,
    syncingSince,
    statusReason,
    ...shown
  } = document
  const isSyncing = syncingSince !== null && now.getTime() - Date.parse(syncingSince) < longestSyncMs
  const status = isSyncing ? 'syncing' : document.status
  return {
    ...shown,
    status,
    statusReason,
    stats,
    isOrganization: login !== null && document.githubOwner !== login,
  }
}
