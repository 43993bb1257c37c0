/** A person's access to a task's repository, and its mirror brought up to date with that access. */
import { projectsView } from '#domain/views/projects.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { WorkspaceDeps } from '../deps.ts'
import type { Mirror, RefreshRequest, RefreshResult } from '../workspace/git/mirror.ts'
import { failed, type Failed } from './failure.ts'

/** How git and the code host reach a repository. `accessToken` and `authorization` are secrets. */
export interface RepositoryAccess {
  readonly repository: { readonly owner: string; readonly name: string }
  readonly access: { readonly accessToken: string; readonly url: string; readonly authorization: string }
}

type Task = Pick<TaskDocument, 'owner' | 'projectId'>

/** Asked anew before each run, so that access that was taken away ends here. The code host's refusal is thrown. */
export async function reachRepository(
  deps: Pick<WorkspaceDeps, 'documents' | 'accessControl' | 'access' | 'codeHost'>,
  task: Task,
): Promise<({ readonly kind: 'reached' } & RepositoryAccess) | Failed> {
  const project = await deps.documents.get(projectsView, task.projectId)
  if (!project) return failed('project_deleted', 'The project of this task was deleted.')
  await deps.accessControl.check(task.owner)
  const repository = { owner: project.githubOwner, name: project.githubRepoName }
  const accessToken = await deps.access.tokenOf(task.owner)
  const { url, authorization } = await deps.codeHost.gitAccess(accessToken, repository)
  return { kind: 'reached', repository, access: { accessToken, url, authorization } }
}

export type RefreshedRepository =
  | ({ readonly kind: 'ready'; readonly mirror: Mirror } & RepositoryAccess)
  | Failed

type RefreshOptions = Pick<RefreshRequest, 'signal' | 'onProgress'>

const cloneWithinMs = 600_000

/** Brings the mirror of a repository that was reached up to date. */
export async function refreshReached(
  { mirrors }: Pick<WorkspaceDeps, 'mirrors'>,
  { repository, access }: RepositoryAccess,
  options: RefreshOptions,
): Promise<RefreshedRepository> {
  const refreshed = await mirrors.refresh({
    ...repository,
    url: access.url,
    authorization: access.authorization,
    timeoutMs: cloneWithinMs,
    ...options,
  })
  if (refreshed.kind !== 'ready') return failed('clone_failed', sentenceOf(refreshed))
  return { kind: 'ready', mirror: refreshed.mirror, repository, access }
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
