/** Getting a task's workspace ready: the person's access asked, the mirror fresh, the tree there. */
import { setTimeout as delay } from 'node:timers/promises'
import { WorkspacePrepared, WorkspacePreparing } from '#domain/task/events.ts'
import { projectsView } from '#domain/views/projects.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { UserDocument } from '#domain/views/users.ts'
import { isBranchName } from '#domain/kernel/branchName.ts'
import { makeFirstBranch } from '../workspace/publish/firstBranch.ts'
import { workingBranchName } from '../workspace/names.ts'
import {
  groundFor,
  hasWorkspace,
  prepareWorkspace,
  removeWorkspace,
  renameBranch,
  type PrepareResult,
  type Workspace,
} from '../workspace/workspace.ts'
import { gitUntil } from '../workspace/git/git.ts'
import type { Mirror, RefreshRequest, RefreshResult } from '../workspace/git/mirror.ts'
import type { WorkspaceDeps, RunnerDeps } from '../deps.ts'
import type { OutputRecorder } from '../output/record.ts'
import type { EarlySandbox } from '../prewarm/earlySandbox.ts'
import { failed, type Failed } from './failed.ts'
import { prepareConcurrently, type Prepared } from '../prewarm/prepareConcurrently.ts'
import type { Reporter } from './recording/reporter.ts'
import type { Stopping } from './stopping.ts'

/** The fetch beside a turn lets the agent's first words go before it: starting git would hold up both the runner and the agent. */
const fetchAfterMs = 250

/** A workspace, and how git reaches the repository; `authorization` is a secret. */
export interface Ready {
  readonly kind: 'ready'
  readonly workspace: Workspace
  readonly repository: { readonly owner: string; readonly name: string }
  readonly access: { readonly accessToken: string; readonly url: string; readonly authorization: string }
  /** The workspace was made just now. */
  readonly isNew: boolean
  /** Ends what still goes on beside the turn, and waits for it. */
  settle(): Promise<void>
}

const cloneWithinMs = 600_000

/** What the person may reach is asked anew each time: access that was taken away ends here. */
export async function reachRepository(
  deps: Pick<WorkspaceDeps, 'documents' | 'entry' | 'access' | 'codeHost'>,
  task: Pick<TaskDocument, 'owner' | 'projectId'>,
) {
  const project = await deps.documents.get(projectsView, task.projectId)
  if (!project) return failed('project_deleted', 'The project of this task was deleted.')
  await deps.entry.check(task.owner)
  const repository = { owner: project.githubOwner, name: project.githubRepoName }
  const accessToken = await deps.access.tokenOf(task.owner)
  const { url, authorization } = await deps.codeHost.gitAccess(accessToken, repository)
  return { kind: 'reached' as const, repository, access: { accessToken, url, authorization } }
}

export async function prepare(
  { git: hostGit, ...others }: RunnerDeps,
  run: {
    readonly task: TaskDocument
    readonly user: UserDocument
    readonly executionId: string
    readonly reporter: Reporter | null
    readonly output: OutputRecorder | null
    /** Opened as soon as the workspace has its place. */
    readonly early?: EarlySandbox | undefined
    readonly signal: AbortSignal
  },
): Promise<Ready | Failed> {
  const { task, user, executionId, reporter, output, early } = run
  // Who cancels, or deletes, does not wait for a repository to be read out.
  const deps = { ...others, git: gitUntil(hostGit, run.signal) }
  const isFirst = reporter !== null && task.workspace !== 'ready'
  const telling = isFirst ? reporter.report(WorkspacePreparing.of({ executionId })) : undefined
  telling?.catch(() => undefined)
  const reached = await reachRepository(deps, task)
  if (reached.kind === 'failed') return reached
  const { repository, access } = reached
  const refreshing = refreshReached(deps, reached, {
    signal: run.signal,
    // Before each command and each further turn it would be in the way.
    ...(task.workspace !== 'ready' && {
      onProgress: (line: string) => void output?.write(`${line}\n`).catch(() => undefined),
    }),
  })
  // What was begun on an empty repository goes on as it was.
  const isBeginning = task.workspace !== 'ready' && !(await hasWorkspace(deps.root, task.id))
  const toWorkOn = isBeginning
    ? withFirstBranch(deps, refreshing, { task, user, signal: run.signal })
    : refreshing
  const prepared = await prepareConcurrently(toWorkOn, {
    async find() {
      const before = await deps.mirrors.find({ ...repository, url: access.url })
      return before && isBeginning && (await isEmpty(deps, before, task)) ? undefined : before
    },
    make: (mirror) =>
      workspaceFor(deps, { mirror, access }, { task, user }, (place) => early?.open(place, access.url)),
    ground: (mirror) => groundFor(deps.git, mirror, branchesOf(task)),
    async remove() {
      await early?.close()
      await removeWorkspace(deps.root, task.id, deps.path)
    },
  })
  await telling
  if (prepared.kind === 'failed') return prepared
  await reporter?.report(preparedOf(prepared.workspace, executionId))
  const { workspace } = prepared
  return {
    kind: 'ready',
    workspace,
    repository,
    access,
    isNew: prepared.madeOn !== null,
    settle: async () => undefined,
  }
}

type Refreshed = Awaited<ReturnType<typeof refreshReached>>

/** The repository of a task that begins, with its first branch made where there is none. Nothing is made of one that has any. */
async function withFirstBranch(
  deps: WorkspaceDeps,
  refreshing: Promise<Refreshed>,
  { task, user, signal }: WhoseWorkspace & { readonly signal: AbortSignal },
): Promise<Refreshed> {
  const fresh = await refreshing
  if (fresh.kind === 'failed' || !(await isEmpty(deps, fresh.mirror, task))) return fresh
  const { git, scratch } = deps
  const { url, authorization } = fresh.access
  const asked = { git, scratch, branch: task.branch, author: identityOf(user), url, authorization, signal }
  const why = await makeFirstBranch(asked)
  const again = await refreshReached(deps, fresh, { signal })
  if (again.kind === 'failed' || !(await isEmpty(deps, again.mirror, task))) return again
  const reason = `This repository is empty, and its first branch ${task.branch} could not be created.`
  return failed('first_branch_failed', why === null ? reason : `${reason} ${why}`)
}

/** Whether a task would begin in a repository without a branch. */
export async function isEmpty(
  { git }: Pick<WorkspaceDeps, 'git'>,
  mirror: Mirror,
  task: WhoseWorkspace['task'],
): Promise<boolean> {
  if (!isBranchName(task.branch)) return false
  const ground = await groundFor(git, mirror, branchesOf(task))
  return ground !== 'no_such_branch' && ground.baseCommit === null
}

interface WhoseWorkspace {
  readonly task: Pick<TaskDocument, 'id' | 'projectId' | 'branch' | 'title' | 'workingBranch'>
  readonly user: UserDocument
}
function branchesOf({ id, branch, title, workingBranch }: WhoseWorkspace['task']) {
  return { baseBranch: branch, workingBranch: workingBranch ?? workingBranchName(title, id) }
}

/** The workspace of a task on a mirror: made, or the one that is there. */
export async function workspaceFor(
  deps: WorkspaceDeps,
  { mirror, access }: { readonly mirror: Mirror; readonly access: Ready['access'] },
  { task, user }: WhoseWorkspace,
  onPlace?: (workspace: Workspace) => void,
): Promise<Prepared | Failed> {
  const noRoom = await deps.eviction.make({ projectId: task.projectId })
  if (noRoom !== undefined && !(await hasWorkspace(deps.root, task.id))) return failed('disk_full', noRoom)
  const prepared = await prepareWorkspace({
    git: deps.git,
    path: deps.path,
    root: deps.root,
    taskId: task.id,
    mirror,
    ...branchesOf(task),
    originUrl: access.url,
    identity: identityOf(user),
    // Without a box there is no other user: it could not even reach its tree in a closed data folder.
    owner: deps.isRoot && isBox(deps.sandbox) ? await deps.boxUsers.userOf(task.id) : undefined,
    checkCheckout: deps.checkCheckout,
    ...(onPlace && { onPlace }),
  })
  switch (prepared.kind) {
    case 'ready':
      return prepared
    case 'too_large':
      return failed('repository_too_large', prepared.message)
    case 'no_such_branch':
    case 'invalid_branch':
      return failed('clone_failed', branchSentence(prepared))
  }
}

function preparedOf(workspace: Workspace, executionId: string) {
  const { branch: workingBranch, baseBranch, startCommit: baseCommit } = workspace
  return WorkspacePrepared.of({ executionId }, { workingBranch, baseBranch, baseCommit })
}

/**
 * For a workspace in which an agent waits, or that was made ahead of its task: it is ready as it is. The mirror is brought up to date beside the turn, which is stopped when
 * the person can no longer reach the repository.
 */
export async function prepareForWaitingAgent(
  deps: RunnerDeps,
  {
    task,
    workspace: found,
    executionId,
    reporter,
    stop,
  }: {
    readonly task: TaskDocument
    readonly workspace: Workspace
    readonly executionId: string
    readonly reporter: Reporter
    readonly stop: Stopping
  },
): Promise<Ready | Failed> {
  const reached = await reachRepository(deps, task)
  if (reached.kind === 'failed') return reached
  const { repository, access } = reached
  const isOver = new AbortController()
  const refresh = async () => {
    const signal = AbortSignal.any([isOver.signal, stop.signal])
    await delay(fetchAfterMs, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    const refreshed = await refreshReached(deps, reached, { signal })
    if (refreshed.kind === 'failed' && !isOver.signal.aborted) stop.stop('no_access', refreshed.reason)
  }
  const refreshing = refresh().catch((fault: unknown) =>
    deps.logger.warn({ err: fault }, 'failed to refresh the mirror'),
  )
  const settle = () => {
    isOver.abort()
    return refreshing
  }
  let workspace = found
  if (task.workspace !== 'ready') {
    // It was made before the task had a title.
    workspace = await renameBranch(deps.git, deps.root, found, branchesOf(task).workingBranch)
    await reporter.report(preparedOf(workspace, executionId))
  }
  return { kind: 'ready', workspace, repository, access, isNew: false, settle }
}

/** Brings the mirror of the task's repository up to date, with the person's own access to it. */
export async function refreshMirror(
  deps: WorkspaceDeps,
  task: Pick<TaskDocument, 'owner' | 'projectId'>,
  options: Pick<RefreshRequest, 'signal' | 'onProgress'>,
) {
  const reached = await reachRepository(deps, task)
  return reached.kind === 'failed' ? reached : refreshReached(deps, reached, options)
}

async function refreshReached(
  deps: WorkspaceDeps,
  { repository, access }: Pick<Ready, 'repository' | 'access'>,
  options: Pick<RefreshRequest, 'signal' | 'onProgress'>,
) {
  const refreshed = await deps.mirrors.refresh({
    ...repository,
    url: access.url,
    authorization: access.authorization,
    timeoutMs: cloneWithinMs,
    ...options,
  })
  if (refreshed.kind !== 'ready') return failed('clone_failed', sentenceOf(refreshed))
  return { kind: 'ready' as const, mirror: refreshed.mirror, repository, access }
}

const isBox = (sandbox: RunnerDeps['sandbox']): boolean => 'kind' in sandbox && sandbox.kind !== 'none'

/** Who commits: the person, by the name they gave. */
export function identityOf(user: UserDocument): { name: string; email: string } {
  const name = user.fullName || user.githubUsername || 'Flightdeck'
  return { name, email: user.email ?? `${user.githubUsername ?? user.id}@users.noreply.github.com` }
}

function sentenceOf(refreshed: Exclude<RefreshResult, { kind: 'ready' }>): string {
  return refreshed.kind === 'aborted' ? 'Cloning was stopped.' : refreshed.message
}

function branchSentence(
  prepared: Extract<PrepareResult, { kind: 'no_such_branch' | 'invalid_branch' }>,
): string {
  return prepared.kind === 'no_such_branch'
    ? `The repository has no branch ${prepared.branch}. Create a task on a branch that exists.`
    : `${prepared.branch} is not a valid branch name.`
}
