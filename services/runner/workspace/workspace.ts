/**
 * A task's workspace: the tree an agent works in, its private home, and the git directory outside its reach by which we read and publish.
 *
 *     <root>/tasks/<taskId>/tree        the agent's, with a `.git` of its own that we never read again
 *     <root>/tasks/<taskId>/home        the agent's
 *     <root>/tasks/<taskId>/command-home   of the command that runs; gone with it
 *     <root>/tasks/<taskId>/git         ours: the tree is its work tree
 *     <root>/tasks/<taskId>/ready.json  written last: without it the rest is half-made; its time is that of the last use
 *     <root>/tasks/<taskId>/asleep      there after a clean-up: the home is to be kept
 */
import {
  chmod,
  chown,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isBranchName } from '#domain/kernel/names.ts'
import type { HostUser } from '../process.ts'
import type { CheckCheckout } from './git/checkoutLimits.ts'
import { giveFew, giveTo, removeFolder } from './ownedFolders.ts'
import { gitOrThrow, gitText, type Git, type HostGit } from './git/git.ts'
import {
  configValue,
  copyShallow,
  layOut,
  repositoryConfig,
  writeAlternates,
} from './git/repositoryLayout.ts'
import type { Mirror } from './git/mirror.ts'
import { isTaskFolderName } from './names.ts'
import { headsOf, headsWritten } from './git/refs.ts'

/** Where the mirror's objects are seen inside the box; the agent's `.git` names this path. */
export const mirrorObjectsInBox = '/mirror/objects'

/** The user that owns a tree and runs what runs in it. */
export type BoxUser = HostUser

export interface Workspace {
  readonly taskId: string
  /** The tree. */
  readonly dir: string
  readonly homeDir: string
  readonly privateGitDir: string
  readonly mirrorDir: string
  readonly mirrorObjects: string
  /** The branch the tree is on, and that is pushed. In an empty repository it is the base branch: the first one. */
  readonly branch: string
  readonly baseBranch: string
  /** The commit it started from; `null` in an empty repository. */
  readonly startCommit: string | null
  /** `undefined` when the tree is owned by this process's own user, as it is when that is not root. */
  readonly owner: BoxUser | undefined
}

export interface PrepareRequest {
  readonly git: HostGit
  /** PATH, for the commands that are not git. */
  readonly path: string
  readonly root: string
  readonly taskId: string
  readonly mirror: Mirror
  readonly baseBranch: string
  readonly workingBranch: string
  /** The address shown to the agent as `origin`; no secret is in it. */
  readonly originUrl: string
  /** Who commits when the agent commits in its own `.git`. */
  readonly identity: { readonly name: string; readonly email: string }
  /** Given when this process is root: the task's of `BoxUsers`. */
  readonly owner: BoxUser | undefined
  /** Asked before a tree is read out. */
  readonly checkCheckout: CheckCheckout
  /** Told once the workspace has its folders, which stay from then on; what is in them may still come. */
  readonly onPlace?: (workspace: Workspace) => void
}

export type PrepareResult =
  /** `madeOn`: where the host's branches stood when it was made just now; `null`: it was there. */
  | { readonly kind: 'ready'; readonly workspace: Workspace; readonly madeOn: Ground | null }
  | { readonly kind: 'no_such_branch'; readonly branch: string }
  | { readonly kind: 'invalid_branch'; readonly branch: string }
  | { readonly kind: 'too_large'; readonly message: string }

/** What a new workspace stands on. */
export interface Ground {
  /** The branch it is to be on. */
  readonly branch: string
  /** The base branch's commit; `null` in an empty repository. */
  readonly baseCommit: string | null
  /** The host's own commit of `branch`; `null` when the host has no such branch. */
  readonly pushedCommit: string | null
}

/**
 * Makes the task's workspace, or finds the one that is there: asking again is free. A half-made one is made anew.
 * A working branch that the host already has is taken up where it stands. Throws `GitFault` and what the file system throws.
 */
export async function prepareWorkspace(request: PrepareRequest): Promise<PrepareResult> {
  const { git, mirror, owner } = request
  const invalid = [request.baseBranch, request.workingBranch].find((branch) => !isBranchName(branch))
  if (invalid !== undefined) return { kind: 'invalid_branch', branch: invalid }

  const found = await findWorkspace(request)
  if (found) {
    request.onPlace?.(found)
    return { kind: 'ready', workspace: found, madeOn: null }
  }

  const ground = await groundFor(git, mirror, request)
  if (ground === 'no_such_branch') return { kind: ground, branch: request.baseBranch }
  const startCommit = ground.pushedCommit ?? ground.baseCommit
  const tooLarge =
    startCommit === null
      ? undefined
      : await request.checkCheckout(git, { gitDir: mirror.dir, commit: startCommit })
  if (tooLarge !== undefined) return { kind: 'too_large', message: tooLarge }
  const task = taskFolder(request.root, request.taskId)
  const workspace: Workspace = {
    taskId: request.taskId,
    dir: join(task, 'tree'),
    homeDir: join(task, 'home'),
    privateGitDir: join(task, 'git'),
    mirrorDir: mirror.dir,
    mirrorObjects: mirror.objects,
    branch: ground.branch,
    baseBranch: request.baseBranch,
    startCommit,
    owner,
  }
  await removeHalfMade(task, workspace, request.path)
  await makeFolders(request.root, task, workspace)
  request.onPlace?.(workspace)
  // Neither looks at what the other makes; none is at work any more when this has failed.
  const made = await Promise.allSettled([
    makePrivateGit(git, workspace, ground),
    makeAgentGit(workspace, request, ground),
  ])
  for (const one of made) if (one.status === 'rejected') throw one.reason
  await copyIndex(workspace)
  await writeMarker(task, workspace)
  await rm(join(task, asleep), { force: true })
  return { kind: 'ready', workspace, madeOn: ground }
}

/** Where a task begins by the mirror as it is now. */
export async function groundFor(
  git: Git,
  mirror: Mirror,
  { baseBranch, workingBranch }: Pick<PrepareRequest, 'baseBranch' | 'workingBranch'>,
): Promise<Ground | 'no_such_branch'> {
  const names = [baseBranch, ...namesFor(workingBranch)]
  const written = await headsWritten(mirror.dir, names)
  // Where git keeps its refs otherwise than in files, it is asked.
  const heads = written.has(baseBranch) ? written : await headsOf(git, mirror.dir, names)
  const baseCommit = heads.get(baseBranch) ?? null
  const isEmpty = baseCommit === null && (await hasNoBranch(git, mirror))
  if (baseCommit === null && !isEmpty) return 'no_such_branch'
  const branch = isEmpty ? baseBranch : nameThatFits(heads, workingBranch)
  return { branch, baseCommit, pushedCommit: heads.get(branch) ?? null }
}

/** The workspace a task has, if one was ever made ready; brought into order for a run, of which there must be no other. */
export async function findWorkspace(
  request: Pick<PrepareRequest, 'root' | 'taskId' | 'mirror'>,
): Promise<Workspace | undefined> {
  const workspace = await readWorkspace(request)
  if (!workspace) return undefined
  const now = new Date()
  await utimes(join(taskFolder(request.root, request.taskId), 'ready.json'), now, now)
  // The data folder may have been moved.
  await writeAlternates(workspace.privateGitDir, workspace.mirrorObjects)
  await copyShallow(workspace.mirrorDir, workspace.privateGitDir)
  return workspace
}

/** Whether a task has a workspace here. */
export async function hasWorkspace(root: string, taskId: string): Promise<boolean> {
  return isTaskFolderName(taskId) && (await readMarker(taskFolder(root, taskId))) !== undefined
}

/** The git directory by which the runner reads the history of a task's workspace: no agent can write to it. */
export function privateGitOf(root: string, taskId: string): string {
  return join(taskFolder(root, taskId), 'git')
}

/** The workspace a task has, as it is: a run may be at work in it. */
export async function readWorkspace(
  request: Pick<PrepareRequest, 'root' | 'taskId' | 'mirror'>,
): Promise<Workspace | undefined> {
  const task = taskFolder(request.root, request.taskId)
  const marker = await readMarker(task)
  if (!marker) return undefined
  return {
    taskId: request.taskId,
    dir: join(task, 'tree'),
    homeDir: join(task, 'home'),
    privateGitDir: join(task, 'git'),
    mirrorDir: request.mirror.dir,
    mirrorObjects: request.mirror.objects,
    branch: marker.branch,
    baseBranch: marker.baseBranch,
    startCommit: marker.startCommit,
    owner: marker.owner,
  }
}

async function readMarker(task: string): Promise<z.infer<typeof Marker> | undefined> {
  const written = await readFile(join(task, 'ready.json'), 'utf8').catch(() => undefined)
  return written === undefined ? undefined : Marker.safeParse(parseJson(written)).data
}

/** Takes a task's workspace away, whatever an agent left in it. None of its processes may still run. */
export async function removeWorkspace(root: string, taskId: string, path: string): Promise<void> {
  await removeFolder(taskFolder(root, taskId), path)
}

/** Takes tree and git directory away and leaves the agent's home, from which its session goes on in a workspace made anew. Nothing may run in it. */
export async function evictWorkspace(root: string, taskId: string, path: string): Promise<void> {
  const task = taskFolder(root, taskId)
  await writeFile(join(task, asleep), '')
  await rm(join(task, 'ready.json'))
  for (const name of ['tree', 'git']) await removeFolder(join(task, name), path)
}

/**
 * Gives the branch of a workspace another name: of one that was made before its task had a title, and in which no agent had a turn yet.
 * Gives the workspace as it is then.
 */
export async function renameBranch(
  git: Git,
  root: string,
  workspace: Workspace,
  asked: string,
): Promise<Workspace> {
  const branch = nameThatFits(await headsOf(git, workspace.mirrorDir, namesFor(asked)), asked)
  // The first branch of an empty repository is the base branch, whatever the title.
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

/** What a rename of a branch writes, with the folders that it may have made. */
async function changedByRename(gitDir: string, branch: string): Promise<readonly string[]> {
  const names = branch.split('/')
  const paths = ['refs/heads', 'logs/refs/heads'].flatMap((folder) =>
    names.map((_, index) => join(gitDir, folder, ...names.slice(0, index + 1))),
  )
  const candidates = [...paths, join(gitDir, 'HEAD'), join(gitDir, 'config'), join(gitDir, 'logs', 'HEAD')]
  const found = await Promise.all(candidates.map((path) => lstat(path).catch(() => undefined)))
  return candidates.filter((_, index) => found[index]?.isSymbolicLink() === false)
}

const Marker = z.object({
  version: z.literal(1),
  branch: z.string(),
  baseBranch: z.string(),
  startCommit: z.string().nullable(),
  owner: z.object({ uid: z.int(), gid: z.int() }).optional(),
})

async function writeMarker(
  task: string,
  { branch, baseBranch, startCommit, owner }: Workspace,
): Promise<void> {
  const marker: z.infer<typeof Marker> = {
    version: 1,
    branch,
    baseBranch,
    startCommit,
    ...(owner && { owner }),
  }
  await writeFile(join(task, 'ready.half'), JSON.stringify(marker))
  await rename(join(task, 'ready.half'), join(task, 'ready.json'))
}

function taskFolder(root: string, taskId: string): string {
  if (!isTaskFolderName(taskId)) throw new RangeError('this task id cannot name a folder')
  return join(root, 'tasks', taskId)
}

async function removeHalfMade(task: string, { owner, homeDir }: Workspace, path: string): Promise<void> {
  const names: readonly string[] = await readdir(task).catch(() => [])
  const isAsleep = names.includes(asleep)
  const gone = names.filter((name) => name !== asleep && !(isAsleep && name === 'home'))
  for (const name of gone) await removeFolder(join(task, name), path)
  // Since then tasks may have come into boxes, or out of them.
  if (owner && isAsleep && names.includes('home')) await giveTo(owner, [homeDir], path)
}

async function makeFolders(root: string, task: string, workspace: Workspace): Promise<void> {
  // Others may pass through, as the box's user must where there is no box, and see nothing.
  for (const dir of [join(root, 'tasks'), task]) {
    await mkdir(dir, { recursive: true })
    await chmod(dir, 0o711)
  }
  const { dir: tree, homeDir, privateGitDir, owner } = workspace
  await Promise.all([
    mkdir(privateGitDir, { recursive: true, mode: 0o700 }),
    ...[tree, homeDir].map(async (dir) => {
      await mkdir(dir, { recursive: true, mode: 0o700 })
      if (owner) await chown(dir, owner.uid, owner.gid)
    }),
  ])
}

/** Ours, and the tree by it: what git writes there is the owner's at once, and so is as the index says. */
async function makePrivateGit(
  git: HostGit,
  workspace: Workspace,
  { baseCommit, pushedCommit }: Ground,
): Promise<void> {
  const { privateGitDir: gitDir, dir: workTree, branch, baseBranch, startCommit, owner } = workspace
  await layOut(gitDir, {
    branch,
    config: repositoryConfig,
    refs: [
      [`refs/heads/${branch}`, startCommit],
      [`refs/remotes/origin/${baseBranch}`, baseCommit],
      ...(branch === baseBranch ? [] : ([[`refs/remotes/origin/${branch}`, pushedCommit]] as const)),
    ],
  })
  await writeAlternates(gitDir, workspace.mirrorObjects)
  await copyShallow(workspace.mirrorDir, gitDir)
  if (startCommit !== null)
    await gitOrThrow(owner ? git.as(owner) : git, {
      gitDir,
      workTree,
      args: ['read-tree', '-m', '-u', startCommit],
      timeoutMs: 600_000,
    })
}

/** The agent gets a plain repository on the same commit. It is written here, while nobody else has the tree, and never again. */
async function makeAgentGit(
  workspace: Workspace,
  request: PrepareRequest,
  { baseCommit }: Ground,
): Promise<void> {
  const { dir: workTree, branch, baseBranch, startCommit, owner } = workspace
  const gitDir = join(workTree, '.git')
  await layOut(gitDir, {
    branch,
    config: `${repositoryConfig}${agentConfig(request)}`,
    refs: [
      [`refs/heads/${branch}`, startCommit],
      [`refs/remotes/origin/${baseBranch}`, baseCommit],
      ...(canStandTogether(branch, baseBranch) ? ([[`refs/heads/${baseBranch}`, baseCommit]] as const) : []),
    ],
  })
  await writeAlternates(gitDir, mirrorObjectsInBox)
  await copyShallow(workspace.mirrorDir, gitDir)
  if (owner) await giveFew(owner, gitDir)
}

/** What our index says holds for the agent's. */
async function copyIndex({ privateGitDir, dir, startCommit, owner }: Workspace): Promise<void> {
  if (startCommit === null) return
  const [ours, agents] = [join(privateGitDir, 'index'), join(dir, '.git', 'index')]
  await copyFile(ours, agents)
  if (owner) await Promise.all([chown(agents, owner.uid, owner.gid), chown(ours, root.uid, root.gid)])
}

function agentConfig({ identity, originUrl }: PrepareRequest): string {
  return [
    '[user]',
    `name = ${configValue(identity.name)}`,
    `email = ${configValue(identity.email)}`,
    '[remote "origin"]',
    `url = ${configValue(originUrl)}`,
    'fetch = +refs/heads/*:refs/remotes/origin/*',
    '[core]',
    // In a user namespace the same file has another owner; without this every file looks touched there.
    'checkStat = minimal',
    '',
  ].join('\n')
}

/** The branches of the host that decide what a working branch is called: those that could stand in its way, and itself. */
function namesFor(branch: string): readonly string[] {
  const names = branch.split('/')
  const folders = names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
  return [...folders, branch, names.join('-')]
}

/** The name, or one without folders where the host has a branch that stands in the way of these. */
function nameThatFits(heads: ReadonlyMap<string, string>, branch: string): string {
  const names = branch.split('/')
  const isTaken = names.slice(1).some((_, index) => heads.has(names.slice(0, index + 1).join('/')))
  return isTaken ? names.join('-') : branch
}

/** Git keeps no branch `a` beside `a/b`. */
function canStandTogether(one: string, other: string): boolean {
  return one !== other && !one.startsWith(`${other}/`) && !other.startsWith(`${one}/`)
}

async function hasNoBranch(git: Git, mirror: Mirror): Promise<boolean> {
  return (
    (await gitText(git, { gitDir: mirror.dir, args: ['for-each-ref', '--count=1', 'refs/heads'] })) === ''
  )
}

/** Our index, brought up to date with files whose owner or time was changed. */
export async function refreshIndex(
  git: Git,
  { privateGitDir: gitDir, dir: workTree }: Workspace,
): Promise<void> {
  await gitOrThrow(git, {
    gitDir,
    workTree,
    args: ['update-index', '-q', '--refresh', '--ignore-submodules'],
  })
}

/** Gives tree and home, as we wrote them, to the workspace's owner. Nothing may run in it. */
export async function settleOwner({ owner, dir, homeDir }: Workspace, path: string): Promise<void> {
  if (owner) await giveTo(owner, [dir, homeDir], path)
}

const asleep = 'asleep'
/** Who gives a tree to another user. */
const root: BoxUser = { uid: 0, gid: 0 }

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
