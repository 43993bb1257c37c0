/** Makes the workspace of a task from a mirror. */
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { chown, lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isBranchName } from '#domain/kernel/names.ts'
import { giveTo } from './agentFiles.ts'
import type { CheckCheckout } from './git/checkoutLimits.ts'
import { endedWell, gitOrThrow, gitText, type Git, type HostGit } from './git/git.ts'
import type { Mirror } from './git/mirror.ts'
import { headsOf, headsWritten } from './git/refs.ts'
import { branchCandidates, usableBranchName } from './names.ts'
import {
  completeWorkspace,
  findWorkspace,
  markUntouched,
  placesOf,
  removeIncomplete,
  taskFolder,
  writeMarker,
  type SandboxUser,
  type Workspace,
  type WorkspacePlace,
} from './workspace.ts'
import {
  copyIndex,
  makeAgentGit,
  makePrivateGit,
  type AgentGitSettings,
  type BaseCommits,
} from './workspaceGit.ts'
import type { WorkspaceLimit } from './workspaceLimit.ts'

export interface PrepareRequest extends WorkspacePlace, AgentGitSettings {
  readonly git: HostGit
  readonly mirror: Mirror
  /** The `PATH` with which the host's programs other than git run. */
  readonly path: string
  readonly baseBranch: string
  readonly workingBranch: string
  /** The commit to begin at, instead of the head of the base branch. */
  readonly startAt?: string | undefined
  /** A commit of the base branch to begin at if the code host no longer has that branch. */
  readonly lastBase?: string | undefined
  /** Whether saved work will be restored into a new workspace. The workspace then counts as incomplete until `completeWorkspace` is called. */
  readonly isToBeRestored?: boolean
  /** The task's user from `SandboxUsers`; `undefined` if the files belong to the user of this process. */
  readonly owner: SandboxUser | undefined
  /** Limits what the owner may write; without it, the usage is only measured. */
  readonly limit?: Pick<WorkspaceLimit, 'hold'>
  readonly checkCheckout: CheckCheckout
  /** Called when the workspace's folders exist. They remain from then on, but may still be empty. */
  readonly onPlace?: (workspace: Workspace) => void
}

export type PrepareResult =
  /** `madeOn` has the commits at the host from which the workspace was just made; `null` if the workspace already existed. */
  | { readonly kind: 'ready'; readonly workspace: Workspace; readonly madeOn: BaseCommits | null }
  | { readonly kind: 'no_such_branch'; readonly branch: string }
  | { readonly kind: 'invalid_branch'; readonly branch: string }
  | { readonly kind: 'no_such_commit'; readonly commit: string }
  | { readonly kind: 'too_large'; readonly message: string }

/**
 * Makes the task's workspace, or finds the existing one, so it can be called repeatedly. An incomplete workspace is made again. A working branch that
 * the host already has is continued. Throws `GitFault` and file system errors.
 */
export async function createOrFindWorkspace(request: PrepareRequest): Promise<PrepareResult> {
  const { git, mirror, owner, baseBranch } = request
  const invalid = [baseBranch, request.workingBranch].find((branch) => !isBranchName(branch))
  if (invalid !== undefined) return { kind: 'invalid_branch', branch: invalid }

  const found = await findWorkspace(git, request)
  if (found) {
    request.onPlace?.(found)
    return { kind: 'ready', workspace: found, madeOn: null }
  }

  const commits = await baseCommitsFor(git, mirror, request)
  if (commits === 'no_such_branch') return { kind: commits, branch: baseBranch }
  if (commits === 'no_such_commit') return { kind: commits, commit: request.startAt ?? '' }
  const startCommit = commits.pushedCommit ?? commits.baseCommit
  const tooLarge =
    startCommit === null
      ? undefined
      : await request.checkCheckout(git, { gitDir: mirror.dir, commit: startCommit })
  if (tooLarge !== undefined) return { kind: 'too_large', message: tooLarge }
  const workspace: Workspace = {
    ...placesOf(request),
    branch: commits.branch,
    baseBranch,
    startCommit,
    owner,
  }
  await makeWorkspace(request, workspace, commits)
  return { kind: 'ready', workspace, madeOn: commits }
}

async function makeWorkspace(
  request: PrepareRequest,
  workspace: Workspace,
  commits: BaseCommits,
): Promise<void> {
  const task = taskFolder(request.root, request.taskId)
  const { kept } = await removeIncomplete(request.root, request.taskId, request.path)
  // The home may have another owner, for example because the server used no sandboxes when the home was made.
  if (workspace.owner && kept.includes('home'))
    await giveTo(workspace.owner, [workspace.homeDir], request.path)
  makeFolders(request.root, task, workspace)
  if (workspace.owner)
    await request.limit?.hold(request.taskId, workspace.owner, [workspace.dir, workspace.homeDir])
  request.onPlace?.(workspace)
  // Makes both git directories at the same time. If making one of them fails, this still waits for the other, so that nothing runs on after the
  // fault.
  const made = await Promise.allSettled([
    makePrivateGit(request.git, workspace, commits),
    makeAgentGit(workspace, request, commits),
  ])
  for (const one of made) if (one.status === 'rejected') throw one.reason
  const origin = commits.pushedCommit === null ? 'base' : 'pushed'
  await Promise.all([
    copyIndex(workspace),
    request.isToBeRestored ? undefined : markUntouched(workspace, origin),
  ])
  if (request.isToBeRestored) return
  await completeWorkspace(request.root, workspace)
}

/** The commits that a task would begin at, according to the present mirror. */
export async function baseCommitsFor(
  git: Git,
  mirror: Mirror,
  {
    baseBranch,
    workingBranch,
    startAt,
    lastBase,
  }: Pick<PrepareRequest, 'baseBranch' | 'workingBranch' | 'startAt' | 'lastBase'>,
): Promise<BaseCommits | 'no_such_branch' | 'no_such_commit'> {
  const names = [baseBranch, ...branchCandidates(workingBranch)]
  const written = headsWritten(mirror.dir, names)
  // If git does not store the refs in files, git is run to list them.
  const heads = written.has(baseBranch) ? written : await headsOf(git, mirror.dir, names)
  if (startAt !== undefined && !(await hasCommit(git, mirror, startAt))) return 'no_such_commit'
  const isStale = !heads.has(baseBranch) && lastBase !== undefined && (await hasCommit(git, mirror, lastBase))
  const head = heads.get(baseBranch) ?? (isStale ? lastBase : null)
  const baseCommit = head === null ? null : (startAt ?? head)
  const isEmpty = baseCommit === null && (await hasNoBranch(git, mirror))
  if (baseCommit === null && !isEmpty) return 'no_such_branch'
  const branch = isEmpty ? baseBranch : usableBranchName(heads, workingBranch)
  return { branch, baseCommit, pushedCommit: heads.get(branch) ?? null }
}

async function hasCommit(git: Git, mirror: Mirror, commit: string): Promise<boolean> {
  return endedWell(await git({ gitDir: mirror.dir, args: ['cat-file', '-e', `${commit}^{commit}`] }))
}

async function hasNoBranch(git: Git, mirror: Mirror): Promise<boolean> {
  return (
    (await gitText(git, { gitDir: mirror.dir, args: ['for-each-ref', '--count=1', 'refs/heads'] })) === ''
  )
}

/** Renames the branch of a workspace in which no agent has had a turn, and returns the changed workspace. */
export async function renameBranch(
  git: Git,
  root: string,
  workspace: Workspace,
  name: string,
): Promise<Workspace> {
  const branch = usableBranchName(await headsOf(git, workspace.mirrorDir, branchCandidates(name)), name)
  // The first branch of an empty repository is always the base branch.
  if (workspace.startCommit === null || workspace.branch === branch) return workspace
  const agentGitDir = join(workspace.dir, '.git')
  for (const gitDir of [workspace.privateGitDir, agentGitDir])
    await gitOrThrow(git, {
      gitDir,
      env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: workspace.mirrorObjects },
      args: ['branch', '--move', '--', workspace.branch, branch],
    })
  const renamed = { ...workspace, branch }
  const { owner } = workspace
  if (owner)
    for (const path of await changedByRename(agentGitDir, branch)) await chown(path, owner.uid, owner.gid)
  await writeMarker(taskFolder(root, workspace.taskId), renamed)
  return renamed
}

/** The paths that renaming a branch writes, including folders that it may create. */
async function changedByRename(gitDir: string, branch: string): Promise<readonly string[]> {
  const names = branch.split('/')
  const paths = ['refs/heads', 'logs/refs/heads'].flatMap((folder) =>
    names.map((_, index) => join(gitDir, folder, ...names.slice(0, index + 1))),
  )
  const candidates = [...paths, join(gitDir, 'HEAD'), join(gitDir, 'config'), join(gitDir, 'logs', 'HEAD')]
  const found = await Promise.all(candidates.map((path) => lstat(path).catch(() => undefined)))
  return candidates.filter((_, index) => found[index]?.isSymbolicLink() === false)
}

/** Makes the folders synchronously: each call takes microseconds, and an asynchronous one would wait. */
function makeFolders(root: string, task: string, workspace: Workspace): void {
  // Other users may enter these folders but not list them: a process that runs as the owner of the tree without a sandbox must be able to enter.
  for (const dir of [join(root, 'tasks'), task]) {
    mkdirSync(dir, { recursive: true })
    chmodSync(dir, 0o711)
  }
  const { dir: tree, homeDir, privateGitDir, owner } = workspace
  mkdirSync(privateGitDir, { recursive: true, mode: 0o700 })
  for (const dir of [tree, homeDir]) {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    if (owner) chownSync(dir, owner.uid, owner.gid)
  }
}
