/** Reads a project's repository at the code host: by the host's id, which survives renames and transfers, or by name while the id is unknown. */
import { viewerOf } from '#domain/appPermissions.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { RepositoryFacts } from '#domain/project/events.ts'
import type { ProjectCommand } from '#domain/project/project.ts'
import type { ProjectDocument } from '#domain/views/projects.ts'
import { CodeHostFault, type CodeHost, type HostRepository } from '#platform/ports/codeHost.ts'

export type ReadProject = Pick<ProjectDocument, 'githubRepoId' | 'githubOwner' | 'githubRepoName'>

/** The commands that record the result of a reading: first those in `before`, and then `last`, which sets the status of the project. */
export interface Reading {
  readonly before: readonly ProjectCommand[]
  readonly last: ProjectCommand
  readonly refusal?: Fault | CodeHostFault
  /** The ETag for the next read; `null` when nothing was read, or when it was read by name. */
  readonly etag: string | null
}

/**
 * Reads the repository of a project; `unchanged` when it still matches `etag`. For a fault of the code host, or a missing connection to it, returns
 * commands that record the failure. Throws any other fault.
 */
export async function readProject(
  project: ReadProject,
  token: () => Promise<string>,
  {
    codeHost,
    etag,
  }: {
    readonly codeHost: Pick<CodeHost, 'repositoryById' | 'repository' | 'ownToken'>
    readonly etag?: string
  },
): Promise<Reading | 'unchanged'> {
  try {
    const found = await read(project, await token(), codeHost, etag)
    return found === 'unchanged' ? found : { ...said(found.repository), etag: found.etag }
  } catch (fault) {
    if (fault instanceof Fault && fault.code === 'github_not_connected') {
      const { code, message: reason } = fault
      return { before: [], last: { type: 'RecordSyncFailure', code, reason }, refusal: fault, etag: null }
    }
    if (!(fault instanceof CodeHostFault)) throw fault
    const last = {
      type: 'RecordSyncFailure',
      code: fault.kind,
      reason: reasonOf(fault, project, viewerOf(codeHost)),
    } as const
    // A missing or inaccessible repository is a fact about the project. An unavailable host only affects this sync.
    return { before: [], last, ...(fault.kind === 'unavailable' ? { refusal: fault } : {}), etag: null }
  }
}

async function read(
  { githubRepoId: id, githubOwner: owner, githubRepoName: name }: ReadProject,
  token: string,
  codeHost: Pick<CodeHost, 'repositoryById' | 'repository'>,
  etag: string | undefined,
): Promise<{ readonly repository: HostRepository; readonly etag: string | null } | 'unchanged'> {
  if (id !== '') return codeHost.repositoryById(token, id, etag)
  return { repository: await codeHost.repository(token, { owner, name }), etag: null }
}

function reasonOf(
  { kind, message }: CodeHostFault,
  { githubOwner, githubRepoName }: ReadProject,
  viewer: string,
): string {
  return kind === 'not_found'
    ? `GitHub has no repository ${githubOwner}/${githubRepoName}, or ${viewer} cannot see it.`
    : message
}

function said(repository: HostRepository): Pick<Reading, 'before' | 'last'> {
  const { isPrivate } = repository
  const synced = { type: 'RecordSync', isPrivate, repository: factsOf(repository) } as const
  if (!repository.isArchived) return { before: [], last: synced }
  return {
    before: [synced],
    last: { type: 'RecordSyncFailure', code: 'archived', reason: archivedReason },
  }
}

export const archivedReason = 'The repository is archived at GitHub: it can only be read.'

export function factsOf({ htmlUrl, owner, name, defaultBranch, language }: HostRepository): RepositoryFacts {
  return { githubUrl: htmlUrl, githubOwner: owner, githubRepoName: name, defaultBranch, language }
}

/** Whether a reading contains anything that is not recorded on the project yet. */
export function isNews(project: ProjectDocument, { before, last }: Reading): boolean {
  const isFailure = last.type === 'RecordSyncFailure'
  if (isFailure ? project.statusReason !== last.reason : project.status !== 'active') return true
  return [...before, last].some(
    (command) =>
      command.type === 'RecordSync' &&
      (command.isPrivate !== project.isPrivate || differs(command.repository, project)),
  )
}

const differs = (facts: RepositoryFacts, project: ProjectDocument): boolean =>
  facts.githubUrl !== project.githubUrl ||
  facts.githubOwner !== project.githubOwner ||
  facts.githubRepoName !== project.githubRepoName ||
  facts.defaultBranch !== project.defaultBranch ||
  facts.language !== project.language
