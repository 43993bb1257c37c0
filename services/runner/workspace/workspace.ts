/**
 * A task's workspace: the tree in which an agent works, its private home, and a git directory that the agent cannot
 * access, through which we read and publish. Below `<root>/tasks/<taskId>`:
 *
 *     tree          belongs to the agent; has a `.git` of its own, whose files are not trusted
 *     home          belongs to the agent
 *     command-home  belongs to the running command, and is removed with it; a person's shell has `shell-home`
 *     git           our git directory, with `tree` as its work tree
 *     setup         says which setup command succeeded last; empty while none has
 *     untouched     says what the tree began with, until a turn or a command runs in it
 *     told          exists once the person was told what the workspace lacks in comparison with a clone
 *     shell.json    names the open shell of a person
 *     submodule     is there while a private submodule is fetched
 *     ready.json    written last, after a restore; without it, the workspace is incomplete and may be removed; its
 *                   time is that of the last use
 *     asleep        written by an eviction, which keeps the home; names the commit that contained the whole tree,
 *                   until something else is restored
 */
import { readFileSync, rmSync } from 'node:fs'
import { lstat, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { HostUser } from '#platform/childProcess.ts'
import { giveTo, removeFolder } from './agentFiles.ts'
import { gitOrThrow, type Git } from './git/git.ts'
import type { Mirror, MirrorPlace } from './git/mirror.ts'
import { ifAbsent } from '#platform/files.ts'
import { isTaskFolderName } from './names.ts'

/** The user who owns a tree and runs the processes in it. */
export type SandboxUser = HostUser

export interface Workspace {
  readonly taskId: string
  /** The folder of the working tree. */
  readonly dir: string
  readonly homeDir: string
  readonly privateGitDir: string
  readonly mirrorDir: string
  readonly mirrorObjects: string
  /** The branch of the tree, to which the work is pushed. In an empty repository it is `baseBranch`, which becomes the first branch. */
  readonly branch: string
  readonly baseBranch: string
  /** The commit that the workspace started from; `null` in an empty repository. */
  readonly startCommit: string | null
  /** The user who owns the tree; `undefined` when it is the user of this process. It always is, unless this process runs as root. */
  readonly owner: SandboxUser | undefined
}

/** The two gits with which a task's work is read. */
export interface WorkspaceGit {
  /** git on the host, outside of any sandbox, as made by `hostGit`: for the history and the network. */
  readonly git: Git
  /** A git that may safely read what an agent wrote, such as files and attributes: `Sandbox.gitFor(workspace)`. */
  readonly treeGit: Git
  readonly workspace: Workspace
}

/** The place of a task's workspace: a root, a task, and a mirror. */
export interface WorkspacePlace {
  readonly root: string
  readonly taskId: string
  readonly mirror: MirrorPlace
}

/**
 * The workspace of a task, if it is complete, prepared for a run. No other run may use it. Throws if it cannot be read, so that an unreadable
 * workspace is not taken for a missing one.
 */
export async function findWorkspace(
  git: Git,
  place: WorkspacePlace & { readonly mirror: Mirror },
): Promise<Workspace | undefined> {
  const workspace = await readWorkspace(place)
  if (!workspace) return undefined
  const now = new Date()
  await utimes(join(taskFolder(place.root, place.taskId), 'ready.json'), now, now)
  await place.mirror.moveHere(git, workspace)
  return workspace
}

/** Whether a task has a workspace here. Throws when that cannot be read. */
export async function hasWorkspace(root: string, taskId: string): Promise<boolean> {
  return isTaskFolderName(taskId) && (await readMarker(taskFolder(root, taskId))) !== undefined
}

/** The git directory through which the runner reads the history of a task's workspace. No agent can write to it. */
export function privateGitOf(root: string, taskId: string): string {
  return join(taskFolder(root, taskId), 'git')
}

/** The present workspace of a task, in which a run may be working. Throws when it cannot be read. */
export async function readWorkspace({
  root,
  taskId,
  mirror,
}: WorkspacePlace): Promise<Workspace | undefined> {
  const marker = await readMarker(taskFolder(root, taskId))
  if (!marker) return undefined
  const { branch, baseBranch, startCommit, owner } = marker
  return { ...placesOf({ root, taskId, mirror }), branch, baseBranch, startCommit, owner }
}

/** The paths of a workspace, whether or not it exists. */
export function placesOf({ root, taskId, mirror }: WorkspacePlace) {
  const task = taskFolder(root, taskId)
  return {
    taskId,
    dir: join(task, 'tree'),
    homeDir: join(task, 'home'),
    privateGitDir: join(task, 'git'),
    mirrorDir: mirror.dir,
    mirrorObjects: mirror.objects,
  }
}

/** Removes a task's workspace, whatever an agent left in it. None of its processes may still run. */
export async function removeWorkspace(root: string, taskId: string, path: string): Promise<void> {
  const folder = taskFolder(root, taskId)
  // The marker is removed first: if the removal is interrupted, the rest counts as incomplete, and not as work that deleted files.
  await rm(join(folder, 'ready.json'), { force: true })
  await removeFolder(folder, path)
}

/**
 * Removes everything but the home of the agent, so that the agent can continue its session in a new workspace. Nothing may run in the workspace.
 * `head` is a commit that contains the whole tree; `null` if there is no such commit.
 */
export async function evictWorkspace(
  root: string,
  taskId: string,
  path: string,
  head: string | null = null,
): Promise<void> {
  const task = taskFolder(root, taskId)
  await writeFile(join(task, evictedMarker), head ?? '')
  await rm(join(task, 'ready.json'))
  await removeIncomplete(root, taskId, path)
}

/** A file that marks an evicted workspace. */
const evictedMarker = 'asleep'

/** Whether a task's workspace was evicted, and has not been made again since. */
export async function isEvicted(root: string, taskId: string): Promise<boolean> {
  const marker = await lstat(join(taskFolder(root, taskId), evictedMarker)).catch(ifAbsent)
  return marker !== undefined && !(await hasWorkspace(root, taskId))
}

/** The commit that contained the whole tree of the evicted workspace; `null` when it is unknown, or was forgotten by `forgetEvictedHead`. */
export async function evictedHead(root: string, taskId: string): Promise<string | null> {
  const written = await readFile(join(taskFolder(root, taskId), evictedMarker), 'utf8').catch(ifAbsent)
  return written !== undefined && /^[0-9a-f]{40}$/.test(written) ? written : null
}

/**
 * Forgets the head of an evicted workspace into which something else is restored. If the restore is interrupted, a half-restored workspace must not
 * be taken for the evicted work.
 */
export async function forgetEvictedHead(root: string, taskId: string): Promise<void> {
  await writeFile(join(taskFolder(root, taskId), evictedMarker), '', { flush: true })
}

/** The contents of the folder of a task: the names that have to be removed, and the names that an eviction kept. */
export interface Incomplete {
  readonly gone: readonly string[]
  readonly kept: readonly string[]
}

/** The contents of an incomplete workspace; empty if the workspace is complete. Throws if its folder cannot be read. */
export async function incompleteOf(root: string, taskId: string): Promise<Incomplete> {
  if (await hasWorkspace(root, taskId)) return { gone: [], kept: [] }
  const names: readonly string[] = (await readdir(taskFolder(root, taskId)).catch(ifAbsent)) ?? []
  const isEvicted = names.includes(evictedMarker)
  const isKept = (name: string) => isEvicted && (name === evictedMarker || name === 'home')
  return { gone: names.filter((name) => !isKept(name)), kept: names.filter(isKept) }
}

/**
 * Removes an incomplete workspace except for the home that an eviction kept, and returns the names that were removed or kept. Nothing may run in the
 * workspace.
 */
export async function removeIncomplete(root: string, taskId: string, path: string): Promise<Incomplete> {
  const incomplete = await incompleteOf(root, taskId)
  const { gone, kept } = incomplete
  const task = taskFolder(root, taskId)
  const dirs = kept.length > 0 || gone.length === 0 ? gone.map((name) => join(task, name)) : [task]
  for (const dir of dirs) await removeFolder(dir, path)
  return incomplete
}

const Marker = z.object({
  version: z.literal(1),
  branch: z.string(),
  baseBranch: z.string(),
  startCommit: z.string().nullable(),
  owner: z.object({ uid: z.int(), gid: z.int() }).optional(),
})

async function readMarker(task: string): Promise<z.infer<typeof Marker> | undefined> {
  // Synchronous, as it takes microseconds, and a run reads it several times before its agent starts.
  let written: string
  try {
    written = readFileSync(join(task, 'ready.json'), 'utf8')
  } catch (fault) {
    return ifAbsent(fault)
  }
  const marker = Marker.safeParse(parseJson(written))
  // The folder may have the only copy of somebody's work, so it is neither used nor replaced by a new workspace.
  if (!marker.success) throw new Error('ready.json of the workspace is damaged, or of a newer version')
  return marker.data
}

/** Marks the workspace as complete. Everything that had to be restored must be there, since a complete workspace is not restored again. */
export async function completeWorkspace(root: string, workspace: Workspace): Promise<void> {
  const task = taskFolder(root, workspace.taskId)
  await writeMarker(task, workspace)
  await rm(join(task, evictedMarker), { force: true })
}

/** Writes the file that marks a workspace as complete. */
export async function writeMarker(
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
  // The marker is flushed before it gets its name: an empty marker would lock the task out of its workspace.
  await writeFile(join(task, 'ready.half'), JSON.stringify(marker), { flush: true })
  await rename(join(task, 'ready.half'), join(task, 'ready.json'))
}

/** The folder with everything of a task. Throws `RangeError` for an id that cannot name a folder. */
export function taskFolder(root: string, taskId: string): string {
  if (!isTaskFolderName(taskId)) throw new RangeError('this task id cannot name a folder')
  return join(root, 'tasks', taskId)
}

/** Updates the index of the private git directory after the owner or the time of files was changed. */
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

/** The content with which a tree began: the base branch (`base`), or a working branch that the host already had (`pushed`). */
export type Origin = 'base' | 'pushed'

const untouchedMarker = (dir: string): string => join(dirname(dir), 'untouched')

/** Records the origin of a new tree. */
export async function markUntouched({ dir }: Workspace, origin: Origin): Promise<void> {
  await writeFile(untouchedMarker(dir), origin)
}

/** Records that something runs in the workspace. Must be called before a turn or a command begins. */
export function markTouched({ dir }: Workspace): void {
  // Synchronous, as it takes microseconds and each turn waits for it.
  rmSync(untouchedMarker(dir), { force: true })
}

/** The origin of the tree, if no turn and no command has run in it and nothing was restored into it; otherwise `undefined`. */
export async function originOf({ dir }: Workspace): Promise<Origin | undefined> {
  const written = await readFile(untouchedMarker(dir), 'utf8').catch(ifAbsent)
  return written === 'base' || written === 'pushed' ? written : undefined
}

/** Makes the workspace's owner the owner of its tree and home. Nothing may run in the workspace. */
export async function settleOwner({ owner, dir, homeDir }: Workspace, path: string): Promise<void> {
  if (owner) await giveTo(owner, [dir, homeDir], path)
}

/** The value of a JSON text; `undefined` for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
