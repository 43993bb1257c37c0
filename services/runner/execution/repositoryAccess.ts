/** A person's access to a task's repository, and its mirror brought up to date with that access. */
import { projectsView } from '#domain/views/projects.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { InstalledRepository } from '#platform/credentials/installations.ts'
import { CodeHostFault, type RepositoryName } from '#platform/ports/codeHost.ts'
import type { Installation } from '#platform/ports/codeHostApp.ts'
import type { WorkspaceDeps } from '../deps.ts'
import type { Mirror, RefreshRequest, RefreshResult } from '../workspace/git/mirror.ts'
import { failed, type Failed } from './failure.ts'

/** How git and the code host reach a repository. The tokens and `authorization` are secrets. */
export interface RepositoryAccess {
  readonly repository: RepositoryName
  readonly access: {
    /** The person's own: what is done with it is their act. */
    readonly accessToken: string
    /** What git uses: of the App's installation and for this repository alone, or the person's where there is none. */
    readonly gitToken: string
    readonly url: string
    readonly authorization: string
  }
  /** The repository as installations know it, and the installation that has it. */
  readonly installed: InstalledRepository & { readonly installation: Installation | undefined }
}

type Task = Pick<TaskDocument, 'owner' | 'projectId'>
type Deps = Pick<WorkspaceDeps, 'documents' | 'accessControl' | 'access' | 'codeHost' | 'installations'>

/** Prepared anew for each run. Whether the person may still do it is asked beside the fetch. The code host's refusal is thrown. */
export async function reachRepository(
  deps: Deps,
  task: Task,
): Promise<({ readonly kind: 'reached' } & RepositoryAccess) | Failed> {
  const project = await deps.documents.get(projectsView, task.projectId)
  if (!project) return failed('project_deleted', 'The project of this task was deleted.')
  await deps.accessControl.check(task.owner)
  const repository = { owner: project.githubOwner, name: project.githubRepoName }
  const accessToken = await deps.access.tokenOf(task.owner)
  const known = { id: project.githubRepoId, owner: project.githubOwner }
  const found = await deps.installations.tokenFor(known, 'git')
  const gitToken = found.kind === 'token' ? found.accessToken : accessToken
  const { url, authorization } = await deps.codeHost.gitAccess(gitToken, repository)
  return {
    kind: 'reached',
    repository,
    access: { accessToken, gitToken, url, authorization },
    installed: { ...known, installation: found.installation },
  }
}

/** Whether the person may push, or why they may not even read; `null` where the host does not say. Throws what else the host says. */
async function rightsOf(
  { codeHost }: Pick<Deps, 'codeHost'>,
  { repository, access }: RepositoryAccess,
): Promise<{ readonly mayPush: boolean | null } | Failed> {
  const full = `${repository.owner}/${repository.name}`
  try {
    return await codeHost.repository(access.accessToken, repository)
  } catch (fault) {
    if (!(fault instanceof CodeHostFault)) throw fault
    if (fault.kind === 'unauthorized') return failed('github_not_connected', fault.message)
    if (fault.kind !== 'not_found') throw fault
    return failed(
      'no_repository_access',
      `GitHub no longer shows ${full} to your account. Ask for access to the repository, or check that it still exists, then continue.`,
    )
  }
}

/** The refusal of a push by somebody who may only read: the installation's token could do it. */
export const mayOnlyRead = ({ owner, name }: RepositoryName): Failed =>
  failed(
    'no_push_access',
    `Your GitHub account may read ${owner}/${name}, but not push to it. The work is kept. Ask somebody who owns the repository for write access, then try again.`,
  )

export type RefreshedRepository =
  | ({ readonly kind: 'ready'; readonly mirror: Mirror; readonly mayPush: boolean | null } & RepositoryAccess)
  | Failed

type RefreshOptions = Pick<RefreshRequest, 'signal' | 'onProgress'>

const cloneWithinMs = 600_000

/** Brings the mirror of a repository that was reached up to date, and asks meanwhile whether the person still has access to it. */
export async function refreshReached(
  { mirrors, codeHost }: Pick<WorkspaceDeps, 'mirrors' | 'codeHost'>,
  reached: RepositoryAccess,
  options: RefreshOptions,
): Promise<RefreshedRepository> {
  const { repository, access, installed } = reached
  const [asked, refreshed] = await Promise.all([
    // A host that does not answer is told of after what git could tell.
    rightsOf({ codeHost }, reached).catch((fault: unknown) => ({ fault })),
    mirrors.refresh({
      ...repository,
      url: access.url,
      authorization: access.authorization,
      timeoutMs: cloneWithinMs,
      ...options,
    }),
  ])
  if ('kind' in asked) return asked
  if (refreshed.kind !== 'ready') return failed('clone_failed', sentenceOf(refreshed))
  if ('fault' in asked) throw asked.fault
  return { kind: 'ready', mirror: refreshed.mirror, mayPush: asked.mayPush, repository, access, installed }
}

/** Reaches the task's repository and brings its mirror up to date. */
export async function refreshMirror(
  deps: WorkspaceDeps,
  task: Task,
  options: RefreshOptions,
): Promise<RefreshedRepository> {
  const reached = await reachRepository(deps, task)
  return reached.kind === 'failed' ? reached : refreshReached(deps, reached, options)
}

function sentenceOf(refreshed: Exclude<RefreshResult, { kind: 'ready' }>): string {
  return refreshed.kind === 'aborted' ? 'Cloning was stopped.' : refreshed.message
}
