/**
 * Deletes the branch of a task whose pull request is over, by the token of the person who wants it. Only what is ours goes: a branch with our
 * name, where it stood when the pull request ended, that nobody else uses.
 */
import type { BranchOutcome } from '#domain/api/cleanUp.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { isOurBranch } from '#domain/kernel/names.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { pullRequestsView } from '#domain/views/pullRequests.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import type { Documents } from '#platform/reads/documents.ts'

export interface BranchCleanUp {
  readonly documents: Pick<Documents, 'now' | 'get' | 'find'>
  readonly access: Pick<HostAccess, 'tokenOf'>
  readonly codeHost: Pick<CodeHost, 'repository' | 'branch' | 'deleteBranch' | 'isInOpenPullRequest'>
}

/** What became of the branch. Never throws for what the code host says. */
export async function cleanUpBranch(services: BranchCleanUp, state: LiveTask): Promise<BranchOutcome> {
  try {
    return await deleteBranch(services, state)
  } catch (fault) {
    if (fault instanceof Fault && fault.code === 'github_not_connected') return 'no_access'
    if (!(fault instanceof CodeHostFault)) throw fault
    return outcomeOf(fault)
  }
}

async function deleteBranch(
  { documents, access, codeHost }: BranchCleanUp,
  { taskId, projectId, ownerId, pullRequest }: LiveTask,
): Promise<BranchOutcome> {
  const [task, pull, project] = await Promise.all([
    documents.now(tasksView, taskStream(taskId), taskId),
    documents.now(pullRequestsView, taskStream(taskId), taskId),
    documents.get(projectsView, projectId),
  ])
  const branch = task?.workingBranch ?? null
  if (!task || !project || branch === null || !isOurBranch(branch)) return 'not_ours'
  const token = await access.tokenOf(ownerId)
  const repository = { owner: project.githubOwner, name: project.githubRepoName }
  const { id, defaultBranch } = await codeHost.repository(token, repository)
  const isBase = [defaultBranch, task.branch, task.recorded?.baseBranch].includes(branch)
  // Names of repositories change hands.
  const isOther = pull?.repositoryId != null && pull.repositoryId !== id
  if (isBase || isOther) return 'not_ours'
  const found = await codeHost.branch(token, repository, branch)
  if (!found) return 'gone'
  if (found.commit !== pullRequest?.observed?.headCommit) return 'moved'
  if (await codeHost.isInOpenPullRequest(token, repository, branch)) return 'in_use'
  if (await isUsedByOthers(documents, { project, taskId, branch })) return 'in_use'
  await codeHost.deleteBranch(token, repository, branch)
  return 'deleted'
}

const page = 500

/** Whether a task of anybody on the repository works on the branch, or from it; not one whose own pull request is over. */
async function isUsedByOthers(
  documents: Pick<Documents, 'find'>,
  { project, taskId, branch }: { project: ProjectDocument; taskId: string; branch: string },
): Promise<boolean> {
  const byNumber = project.githubRepoId !== ''
  const projects = byNumber
    ? await documents.find(projectsView, {
        where: { githubRepoId: project.githubRepoId },
        sort: { field: 'order', direction: 'ascending' },
        limit: page,
      })
    : [project]
  for (const { id: projectId } of projects) {
    for (let last: TaskDocument | undefined; ;) {
      const found: readonly TaskDocument[] = await documents.find(tasksView, {
        where: { projectId },
        sort: { field: 'order', direction: 'ascending' },
        limit: page,
        ...(last && { after: { value: last.order, id: last.id } }),
      })
      if (found.some((one) => one.id !== taskId && isOn(one, branch))) return true
      last = found.at(-1)
      if (found.length < page) break
    }
  }
  return false
}

function isOn({ branch, workingBranch, pullRequest }: TaskDocument, name: string): boolean {
  const isOver = pullRequest?.state === 'merged' || pullRequest?.state === 'closed'
  return !isOver && (branch === name || workingBranch === name)
}

function outcomeOf({ kind }: CodeHostFault): BranchOutcome {
  switch (kind) {
    case 'unauthorized':
    case 'not_found':
      return 'no_access'
    case 'forbidden':
    case 'invalid':
      return 'refused'
    case 'rate_limited':
    case 'unavailable':
      return 'unavailable'
  }
}
