/**
 * The clean-up of a task whose pull request was merged or closed: removes the workspace, and then the branch. The runner comes first, because it says
 * whether the work is saved.
 */
import type { BranchOutcome, WorkspaceOutcome } from '#domain/api/cleanUp.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { whyNotOver } from '#domain/task/codeHost/cleanUp.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task } from '#domain/task/task.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { isOurBranch } from '#domain/kernel/names.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { pullRequestsView } from '#domain/views/pullRequests.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import { CodeHostFault, type CodeHost } from '#platform/ports/codeHost.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { pagesOf } from '#platform/reads/documentPages.ts'

export interface TaskCleanUpServices extends BranchCleanUp {
  readonly rpc: Pick<Rpc, 'call'>
  readonly commands: Pick<Commands, 'load'>
}

/** How long to wait for the runner, so that the whole request takes less than the client's timeout of 30 s. */
const runnerTimeoutMs = 15_000

/** Cleans up and returns the outcomes for branch and workspace. Errors of the code host and the runner become outcomes. */
export async function cleanUp(
  services: TaskCleanUpServices,
  state: LiveTask,
): Promise<{ readonly branch: BranchOutcome; readonly workspace: WorkspaceOutcome }> {
  const workspace = await removeWorkspace(services, state)
  const whyKept = async () =>
    workspace === 'in_use' ? workspace : await whyBranchIsKept(services, state.taskId)
  // The code host is asked even if the branch must stay, because the branch may be deleted already.
  return { branch: await cleanUpBranch(services, state, whyKept), workspace }
}

async function removeWorkspace(
  { rpc }: Pick<TaskCleanUpServices, 'rpc'>,
  { taskId, lastRunnerId: runnerId }: LiveTask,
): Promise<WorkspaceOutcome> {
  if (runnerId === null) return 'none'
  const answered = await rpc.call('removeWorkspace', { taskId, runnerId }, runnerTimeoutMs)
  return answered?.outcome ?? 'unreachable'
}

/**
 * Why the branch must stay, according to the log. `in_use`: the task was continued. `only_copy`: the work was not merged, and no runner has found it
 * saved. `null` when the branch may be deleted.
 */
async function whyBranchIsKept(
  { commands }: Pick<TaskCleanUpServices, 'commands'>,
  taskId: string,
): Promise<'in_use' | 'only_copy' | null> {
  const { state } = await commands.load(task, taskStream(taskId))
  if (state.kind !== 'task' || whyNotOver(state) !== null) return 'in_use'
  const isMerged = state.pullRequest?.observed?.state === 'merged'
  return isMerged || state.cleanUp.work === 'saved' ? null : 'only_copy'
}

export interface BranchCleanUp {
  readonly documents: Pick<Documents, 'now' | 'get' | 'getMany' | 'find'>
  readonly access: Pick<HostAccess, 'tokenOf'>
  readonly codeHost: Pick<CodeHost, 'repository' | 'branch' | 'deleteBranch' | 'isInOpenPullRequest'>
}

/**
 * Deletes the branch with the token of the task's owner, and returns the outcome. A branch is deleted only if Flightdeck named it, if it still has
 * the last commit of the pull request, and if nobody else uses it. `whyKept` is called right before the deletion. Errors of the code host become
 * outcomes.
 */
export async function cleanUpBranch(
  services: BranchCleanUp,
  state: LiveTask,
  whyKept: () => Promise<BranchOutcome | null>,
): Promise<BranchOutcome> {
  const { taskId, projectId, ownerId, pullRequest } = state
  const { documents, access, codeHost } = services
  const [task, pull, project] = await Promise.all([
    documents.now(tasksView, taskStream(taskId), taskId),
    documents.now(pullRequestsView, taskStream(taskId), taskId),
    documents.get(projectsView, projectId),
  ])
  const branch = task?.workingBranch ?? null
  const head = pullRequest?.observed?.headCommit
  if (!task || !project || branch === null || head === undefined || !isOurBranch(branch)) return 'not_ours'
  const repository = { owner: project.githubOwner, name: project.githubRepoName }
  // The step that is under way. If the code host stops answering, the outcome depends on it.
  let step: Step = 'looking'
  try {
    const token = await access.tokenOf(ownerId)
    const { id, defaultBranch } = await codeHost.repository(token, repository)
    const isBase = [defaultBranch, task.branch, task.recorded?.baseBranch].includes(branch)
    // Another repository may have the same name by now.
    const isOther = pull?.repositoryId != null && pull.repositoryId !== id
    if (isBase || isOther) return 'not_ours'
    const stands = async (): Promise<'gone' | 'moved' | 'as_it_was'> => {
      const found = await codeHost.branch(token, repository, branch)
      if (!found) return 'gone'
      return found.commit === head ? 'as_it_was' : 'moved'
    }
    const first = await stands()
    if (first !== 'as_it_was') return first
    step = 'checking'
    if (await codeHost.isInOpenPullRequest(token, repository, branch)) return 'in_use'
    if (await isUsedByOthers(documents, { project, taskId, branch })) return 'in_use'
    // GitHub deletes a branch whatever its last commit is, so the commit is checked again right before the deletion.
    const last = await stands()
    if (last !== 'as_it_was') return last
    const kept = await whyKept()
    if (kept !== null) return kept
    step = 'deleting'
    await codeHost.deleteBranch(token, repository, branch)
    return 'deleted'
  } catch (fault) {
    if (fault instanceof Fault && fault.code === 'github_not_connected') return 'no_access'
    if (!(fault instanceof CodeHostFault)) throw fault
    return outcomeOf(fault, step)
  }
}

type Step = 'looking' | 'checking' | 'deleting'

function outcomeOf({ kind }: CodeHostFault, step: Step): BranchOutcome {
  switch (kind) {
    case 'unauthorized':
    case 'not_found':
      return 'no_access'
    case 'forbidden':
    case 'invalid':
      return step === 'looking' ? 'no_access' : 'refused'
    case 'rate_limited':
      return step === 'looking' ? 'unavailable' : 'unchecked'
    case 'unavailable':
      // If the answer to the deletion is lost, the branch may be gone, so its state is unknown: `unavailable`.
      return step === 'checking' ? 'unchecked' : 'unavailable'
  }
}

const page = 200
const maxPages = 5

/**
 * Whether another task of any person, in the same repository, works on the branch or starts from it. A task whose pull request was merged or closed
 * counts only while it runs or has unpublished work. A branch that a thousand tasks or more name counts as used.
 */
async function isUsedByOthers(
  documents: Pick<Documents, 'find' | 'getMany'>,
  { project, taskId, branch }: { project: ProjectDocument; taskId: string; branch: string },
): Promise<boolean> {
  for (const field of ['workingBranch', 'branch'] as const) {
    let pages = 0
    for await (const found of pagesOf(documents, tasksView, { where: { [field]: branch }, limit: page })) {
      const others = found.filter((one) => one.id !== taskId && isAtWork(one))
      if (await areOn(documents, project, others)) return true
      pages += 1
      if (pages === maxPages && found.length === page) return true
    }
  }
  return false
}

/** Whether the task may still need its branch. */
function isAtWork({ status, pullRequest, pullRequestPending, laterWork }: TaskDocument): boolean {
  const isOver = pullRequest?.state === 'merged' || pullRequest?.state === 'closed'
  const isRunning = status === 'queued' || status === 'running'
  return !isOver || isRunning || pullRequestPending || laterWork === true
}

/** Whether one of the tasks is in the same repository as the project. */
async function areOn(
  documents: Pick<Documents, 'getMany'>,
  { id, githubRepoId, githubOwner, githubRepoName }: ProjectDocument,
  tasks: readonly TaskDocument[],
): Promise<boolean> {
  if (tasks.length === 0) return false
  const projects = await documents.getMany(projectsView, [...new Set(tasks.map((one) => one.projectId))])
  const name = `${githubOwner}/${githubRepoName}`.toLowerCase()
  return [...projects.values()].some((one) => {
    const isNumbered = githubRepoId !== '' && one.githubRepoId !== ''
    const isSame = isNumbered
      ? one.githubRepoId === githubRepoId
      : `${one.githubOwner}/${one.githubRepoName}`.toLowerCase() === name
    return one.id === id || isSame
  })
}
