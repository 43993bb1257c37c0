/** Prepares the workspace of a task: checks the person's access, refreshes the mirror, and checks out the tree. */
import { isDeepStrictEqual } from 'node:util'
import { isBranchName } from '#domain/kernel/names.ts'
import { WorkspacePrepared, WorkspacePreparing } from '#domain/task/events.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { WorkspaceDeps } from '../deps.ts'
import type { OutputRecorder } from './recording/outputRecorder.ts'
import type { EarlySandbox } from '../prewarm/earlySandbox.ts'
import { prepareConcurrently, type Prepared } from './prepareConcurrently.ts'
import { gitUntil } from '../workspace/git/git.ts'
import type { Mirror } from '../workspace/git/mirror.ts'
import { workingBranchName } from '../workspace/names.ts'
import { identityOf, type Committer } from '../workspace/publish/commitIdentity.ts'
import { makeFirstBranch } from '../workspace/publish/firstBranch.ts'
import { baseCommitsFor, type PrepareRequest } from '../workspace/createWorkspace.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { failed, type Failed } from './failure.ts'
import {
  forPush,
  mirrored,
  reachRepository,
  refreshReached,
  type ReachingDeps,
  type RefreshedRepository,
  type RepositoryAccess,
} from './repositoryAccess.ts'
import type { Reporter } from './recording/reporter.ts'
import { unsignedWarning } from './signatureWarning.ts'

/** A workspace, and how git reaches its repository. */
export interface ReadyWorkspace extends RepositoryAccess {
  readonly kind: 'ready'
  readonly workspace: Workspace
  /** Whether the workspace was just made. */
  readonly isNew: boolean
  /** Whether the workspace was just made, from the task's branch at the code host rather than from the base. */
  readonly isOnPushedBranch: boolean
  /** Aborts the refresh of the mirror that runs beside the turn, and waits for its end. */
  settle?(): Promise<void>
}

export interface PreparingDeps
  extends
    ReachingDeps,
    Pick<WorkspaceDeps, 'git' | 'workspaces' | 'scratch' | 'logger' | 'commitSigner' | 'noreplyDomain'> {
  readonly codeHost: ReachingDeps['codeHost'] & Pick<WorkspaceDeps['codeHost'], 'takesOnlySigned'>
  readonly eviction: Pick<WorkspaceDeps['eviction'], 'make'>
}

interface PrepareRun {
  readonly task: TaskDocument & WorkspaceOf['task']
  readonly user: Committer
  readonly executionId: string
  readonly reporter: Reporter | null
  readonly output: OutputRecorder | null
  /** A sandbox that is opened as soon as the workspace's folders exist. */
  readonly early?: EarlySandbox | undefined
  readonly signal: AbortSignal
  /** Whether saved work will be restored into a new workspace. The caller then marks the workspace as complete after the restore. */
  readonly isToBeRestored?: boolean
  /** The access that the person must have; `read` by default. */
  readonly needs?: 'read' | 'push'
}

/** Makes the workspace, or finds the existing one. The caller records it as prepared when it is complete. */
export async function readyWorkspace(
  { git: hostGit, ...others }: PreparingDeps,
  run: PrepareRun,
): Promise<ReadyWorkspace | Failed> {
  const { task, executionId, reporter, output } = run
  // A cancellation or a deletion must not wait for the end of a checkout.
  const deps = { ...others, git: gitUntil(hostGit, run.signal) }
  const isFirst = reporter !== null && task.workspace !== 'ready'
  const reporting = isFirst ? reporter.report(WorkspacePreparing.of({ executionId })) : undefined
  reporting?.catch(() => undefined)
  const reached = await reachRepository(deps, task)
  if (reached.kind === 'failed') return reached
  // Reports progress only before the first run: before each later turn, it would be noise.
  const tell =
    task.workspace === 'ready' || output === null
      ? undefined
      : (line: string) => void output.write(`${line}\n`).catch(() => undefined)
  const warning = tell && unsignedWarning(deps, reached, task.branch)
  const refreshing = refreshReached(deps, reached, {
    signal: run.signal,
    ...(tell && { onProgress: tell }),
  })
  const permitted =
    run.needs === 'push' ? refreshing.then((refreshed) => forPush(deps, refreshed)) : refreshing
  const prepared = await makeWhileRefreshing(deps, run, reached, permitted)
  await reporting
  if (prepared.kind === 'failed') return prepared
  const refreshed = await permitted
  if (refreshed.kind === 'failed') return refreshed
  const warned = await warning
  if (tell && warned) tell(warned)
  const { workspace, madeOn } = prepared
  const isNew = madeOn !== null
  return { ...refreshed, workspace, isNew, isOnPushedBranch: isNew && madeOn.pushedCommit !== null }
}

async function makeWhileRefreshing(
  deps: PreparingDeps,
  { task, user, early, signal, isToBeRestored = false }: PrepareRun,
  reached: RepositoryAccess,
  refreshing: Promise<RefreshedRepository>,
): Promise<Prepared | Failed> {
  const { access } = reached
  // In an empty repository, a first branch is created only for a task that has no workspace yet. A task that began without a branch continues without
  // one.
  const isBeginning = task.workspace !== 'ready' && !(await deps.workspaces.has(task.id))
  const repositoryReady = isBeginning ? withFirstBranch(deps, refreshing, { task, user, signal }) : refreshing
  let found: Workspace | undefined
  return prepareConcurrently(repositoryReady, {
    async find() {
      const before = await deps.mirrors.find(mirrored(reached))
      if (before && early && task.workspace === 'ready') {
        // The workspace exists, so its sandbox can be opened while the workspace is still being prepared.
        found = await deps.workspaces.read(task.id, before)
        if (found) early.open(found, access.url)
      }
      return before && isBeginning && (await isEmpty(deps, before, task)) ? undefined : before
    },
    make: (mirror) =>
      workspaceFor(
        deps,
        { mirror, access },
        { task, user },
        {
          isToBeRestored,
          onPlace(place) {
            if (!isDeepStrictEqual(place, found)) early?.open(place, access.url)
          },
        },
      ),
    ground: (mirror) => baseCommitsFor(deps.git, mirror, branchesOf(task)),
    async close() {
      // A workspace that already existed is not removed, so its sandbox stays open.
      if (!found) await early?.close()
    },
    remove: () => deps.workspaces.discard(task.id),
  })
}

/** Waits for the refresh of a new task's repository. If the repository has no branch at all, creates the first one and refreshes again. */
async function withFirstBranch(
  deps: PreparingDeps,
  refreshing: Promise<RefreshedRepository>,
  { task, user, signal }: WorkspaceOf & { readonly signal: AbortSignal },
): Promise<RefreshedRepository> {
  const fresh = await refreshing
  if (fresh.kind === 'failed' || !(await isEmpty(deps, fresh.mirror, task))) return fresh
  const pushing = await forPush(deps, fresh)
  if (pushing.kind === 'failed') return pushing
  const why = await makeFirstBranch({
    ...deps,
    ...pushing.access,
    branch: task.branch,
    author: identityOf(user, deps),
    signer: deps.commitSigner,
    signal,
  })
  const again = await refreshReached(deps, fresh, { signal })
  if (again.kind === 'failed' || !(await isEmpty(deps, again.mirror, task))) return again
  const reason = `This repository is empty, and its first branch ${task.branch} could not be created.`
  return failed('first_branch_failed', why === null ? reason : `${reason} ${why}`)
}

/** Whether the repository has no branch, so that the task has no commit to begin at. */
export async function isEmpty(
  { git }: Pick<WorkspaceDeps, 'git'>,
  mirror: Mirror,
  task: WorkspaceOf['task'],
): Promise<boolean> {
  if (!isBranchName(task.branch)) return false
  const ground = await baseCommitsFor(git, mirror, branchesOf(task))
  return typeof ground === 'object' && ground.baseCommit === null
}

interface WorkspaceOf {
  readonly task: Pick<
    TaskDocument,
    'id' | 'projectId' | 'branch' | 'title' | 'workingBranch' | 'startCommit'
  > & {
    /** The base commit that was recorded last for the task. The task continues from this commit when the base branch no longer exists. */
    readonly lastBase?: string | null
  }
  readonly user: Committer
}
function branchesOf({ id, branch, title, workingBranch, startCommit, lastBase }: WorkspaceOf['task']) {
  return {
    baseBranch: branch,
    workingBranch: workingBranch ?? workingBranchName(title, id),
    startAt: startCommit ?? undefined,
    lastBase: lastBase ?? undefined,
  }
}

/** Makes the workspace of a task from a mirror, or returns the existing workspace. */
export async function workspaceFor(
  deps: PreparingDeps,
  { mirror, access }: { readonly mirror: Mirror } & Pick<RepositoryAccess, 'access'>,
  { task, user }: WorkspaceOf,
  making: Pick<PrepareRequest, 'onPlace' | 'isToBeRestored'> = {},
): Promise<Prepared | Failed> {
  // Leftovers of an incomplete workspace are removed first, since they must not take up the space for the new one.
  await deps.workspaces.removeIncomplete(task.id)
  const noSpace = await deps.eviction.make({ projectId: task.projectId, taskId: task.id })
  if (noSpace !== undefined && !(await deps.workspaces.has(task.id))) return failed('disk_full', noSpace)
  const prepared = await deps.workspaces.make({
    git: deps.git,
    ...branchesOf(task),
    ...making,
    taskId: task.id,
    mirror,
    originUrl: access.url,
    identity: identityOf(user, deps),
  })
  switch (prepared.kind) {
    case 'ready':
      return prepared
    case 'too_large':
      return failed('repository_too_large', prepared.message)
    case 'no_such_branch':
      return failed(
        'clone_failed',
        `The repository has no branch ${prepared.branch}. Create a task on a branch that exists.`,
      )
    case 'no_such_commit':
      return failed(
        'clone_failed',
        `The repository no longer has commit ${prepared.commit.slice(0, 7)}, which this comparison began from.`,
      )
    case 'invalid_branch':
      return failed('clone_failed', `${prepared.branch} is not a valid branch name.`)
  }
}

/** The event that records in the task's stream which workspace the execution has. */
export function preparedEvent(workspace: Workspace, executionId: string) {
  const { branch: workingBranch, baseBranch, startCommit: baseCommit } = workspace
  return WorkspacePrepared.of({ executionId }, { workingBranch, baseBranch, baseCommit })
}
