/**
 * Keeps mirrors, workspaces and environments within a disk budget. Removes, in this order: workspaces of deleted tasks; environments; workspaces that
 * are incomplete, outdated or without work of their own; mirrors that no workspace uses. Of each kind, those that have been unused for longest are
 * removed first. Nothing that is in use is removed, and no unpushed work in the present workspace of a task that was not deleted.
 */
import { renameSync, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { DiskLimits } from '#platform/config/config.ts'
import { allLayers, removeLayer } from '../environment/layers.ts'
import { floorsOf } from './diskDecision.ts'
import { freeBytes, inGigabytes } from './diskWatch.ts'
import { sizesOf } from './folderSizes.ts'
import { removeFolder } from './agentFiles.ts'
import { commitOf, emptyTree, endedWell, gitText } from './git/git.ts'
import type { Git } from './git/git.ts'
import { alternatesOf } from './git/repositoryLayout.ts'
import type { WorkspaceLocks } from './locks.ts'
import { ifAbsent } from '#platform/files.ts'
import { isTaskFolderName } from './names.ts'
import { hasWorkAside } from './changes/workAside.ts'
import { treeDifferences, withScratchIndex } from './changes/indexDifferences.ts'
import {
  evictWorkspace,
  hasWorkspace,
  incompleteOf,
  readWorkspace,
  removeIncomplete,
  removeWorkspace,
  taskFolder,
} from './workspace.ts'
import type { Workspace } from './workspace.ts'

export interface WorkspaceEviction {
  /**
   * Called before a workspace is made or used again. Waits for a running eviction, until ended runs are counted, and for the first measurement. If
   * the last measurement is outdated, evicts when it exceeds the budget, and otherwise measures again in the background. Returns a sentence if there
   * is no space for a new workspace of the task. Never throws.
   */
  make(request: WorkspaceRequest): Promise<string | undefined>
  /** Records how many bytes a task's workspace uses, because a run or a removal has changed it after the last measurement. */
  counted(taskId: string, bytes: number): void
  /** Measures, and evicts if the budget is exceeded. Concurrent calls share one pass. */
  clear(): Promise<Cleared>
  /**
   * Calls `isOfUse` with the folder of each mirror, relative to the root, and removes the mirrors for which it returns false. A mirror stays if a
   * workspace uses it, or if it was used within `idleMs`.
   */
  removeMirrors(options: {
    readonly idleMs: number
    readonly isOfUse: (path: string) => boolean
  }): Promise<void>
}

interface WorkspaceRequest {
  readonly projectId: string
  readonly taskId: string
}

export interface Cleared {
  /** The size of all mirrors, workspaces and environments after the removal. */
  readonly bytes: number
  /** The ids of tasks whose workspaces were removed. */
  readonly workspaces: readonly string[]
  /** The folders of removed mirrors. */
  readonly mirrors: readonly string[]
  readonly holdings: readonly Holding[]
}

export interface EvictionOptions {
  /** The folder that contains all mirrors and workspaces. */
  readonly root: string
  /** The locks of workspaces. A workspace whose lock is held is skipped. */
  readonly locks: WorkspaceLocks
  /** The `PATH` for commands other than git. */
  readonly path: string
  readonly git: Git
  /** Returns a git that may safely read what an agent wrote: `Sandbox.gitFor`. */
  readonly treeGitFor: (workspace: Workspace) => Git
  readonly limits: Pick<DiskLimits, 'budget' | 'project' | 'leastFree'>
  /** Returns the project and the owner of a task; `undefined` when they are not known, or no longer. */
  readonly belongingOf: (
    taskId: string,
  ) => Promise<{ readonly projectId: string; readonly owner: string } | undefined>
  /** Whether something runs or waits in a task's workspace. */
  readonly isInUse: (taskId: string) => boolean
  /** Whether a task was deleted, according to the log. Its workspace is removed before all others, whatever it contains. */
  readonly isDeleted: (taskId: string) => Promise<boolean>
  /** Whether another runner ran a task last, so that its workspace here is outdated. */
  readonly isElsewhere: (taskId: string) => Promise<boolean>
  /**
   * How long a workspace, mirror or environment is kept after its last use: 15 minutes by default, which is longer than an agent waits for its next
   * message.
   */
  readonly idleMs?: number
  /** How long a measurement is valid; a minute by default. */
  readonly measureMs?: number
  /** Resolves when all ended runs are reported to `counted`. By default, nothing is waited for. */
  readonly runsCounted?: () => Promise<void>
  /** Called when the budget is exceeded and nothing more may be removed. */
  readonly onFull?: (bytes: number) => void
  /** Called with a fault when `make` could not measure or evict, or when a workspace could not be inspected. No task fails because of it. */
  readonly onFault: (fault: unknown) => void
}

/** Opens the eviction of a runner. Folders that an earlier eviction removed only partly are removed by the next one. */
export function openWorkspaceEviction(options: EvictionOptions): WorkspaceEviction {
  const { limits, measureMs = 60_000 } = options
  let measured: Measured | undefined
  let clearing: Promise<Cleared> | undefined
  let measuring: Promise<void> | undefined

  /** The bytes that runs used at their last count, by workspace. */
  const counts = new Map<string, { readonly bytes: number; readonly at: number }>()

  /** Stores a measurement that began at `begun`, with the newer counts that arrived since. */
  function keep(found: readonly Holding[], begun: number): Measured {
    for (const [dir, { at }] of counts) if (at < begun) counts.delete(dir)
    const holdings = found.map((one) => ({ ...one, bytes: counts.get(one.dir)?.bytes ?? one.bytes }))
    return { holdings, bytes: sum(holdings), at: performance.now() }
  }
  async function measure(): Promise<void> {
    const begun = performance.now()
    const found = keep(await holdingsOf(options), begun)
    // If the budget is exceeded, the measurement counts as outdated. So eviction runs before anybody is refused.
    measured = found.bytes > limits.budget ? { ...found, at: -Infinity } : found
  }
  function measureBeside(): Promise<void> {
    measuring ??= measure()
      .catch(options.onFault)
      .finally(() => (measuring = undefined))
    return measuring
  }
  async function refusal({ projectId, taskId }: WorkspaceRequest): Promise<string | undefined> {
    if (freeBytes(options.root) < floorsOf(limits.leastFree).begin)
      return "The server's disk is nearly full. Ask the operator to free up space, then try again."
    if (measured === undefined) return undefined
    const { holdings, bytes: all } = measured
    const workspaces = holdings.filter(({ kind }) => kind === 'workspace')
    // The sizes are usually far below the limits, and then neither tasks nor folders need to be read.
    if (all <= limits.budget && sum(workspaces) <= limits.project) return undefined
    const own = holdings.find(({ dir }) => dir === taskFolder(options.root, taskId))
    // A new workspace replaces everything that the task had before, except for the home that an eviction kept.
    const replaced = own ? own.bytes - (await keptBytes(options, taskId)) : 0
    const over = all - replaced - limits.budget
    if (over > 0 && over > (await excessOfOthers(options, workspaces, taskId)))
      return `There is no room for another workspace: work that was not pushed takes up more than ${inGigabytes(limits.budget)}. Delete tasks you no longer need, or open their pull requests.`
    if (sum(workspaces) - replaced <= limits.project) return undefined
    const ofProject = await Promise.all(
      workspaces.map(async (workspace) =>
        workspace === own || (await options.belongingOf(basename(workspace.dir)))?.projectId === projectId
          ? workspace.bytes
          : 0,
      ),
    )
    return ofProject.reduce((total, bytes) => total + bytes, -replaced) > limits.project
      ? `This project's workspaces take up more than ${inGigabytes(limits.project)}. Delete tasks you no longer need.`
      : undefined
  }
  function clear(): Promise<Cleared> {
    const begun = performance.now()
    clearing ??= clearOnce(options)
      .then((cleared) => {
        measured = keep(cleared.holdings, begun)
        return cleared
      })
      .finally(() => (clearing = undefined))
    return clearing
  }

  return {
    clear,
    counted(taskId, bytes) {
      const dir = taskFolder(options.root, taskId)
      counts.set(dir, { bytes, at: performance.now() })
      if (measured) measured = withCount(measured, { dir, bytes }, limits.budget)
    },
    async removeMirrors({ idleMs, isOfUse }) {
      const { root } = options
      for (const dir of await mirrorsIn(root))
        if (!isOfUse(relative(root, dir))) await removeMirror(options, { dir, bytes: 0 }, idleMs)
    },
    async make(request) {
      // `clear` may be removing the task's workspace, which must not be made again before it is gone.
      await clearing?.catch(options.onFault)
      await options.runsCounted?.()
      if (measured === undefined) await measureBeside()
      const isStale = measured !== undefined && performance.now() - measured.at >= measureMs
      if (isStale && measured !== undefined && measured.bytes > limits.budget)
        await clear().catch(options.onFault)
      else if (isStale) void measureBeside()
      return refusal(request).catch((fault: unknown) => void options.onFault(fault))
    },
  }
}

/** The share of the budget that the work of one person may take from other people. */
const shareOfOne = 0.75

/** By how many bytes the workspaces of people other than the owner of the task exceed `shareOfOne` of the budget. */
async function excessOfOthers(
  { limits, belongingOf }: EvictionOptions,
  workspaces: readonly Holding[],
  taskId: string,
): Promise<number> {
  const asking = (await belongingOf(taskId))?.owner
  if (asking === undefined) return 0
  const used = new Map<string, number>()
  const belonging = await Promise.all(workspaces.map(({ dir }) => belongingOf(basename(dir))))
  for (const [index, { bytes }] of workspaces.entries()) {
    const owner = belonging[index]?.owner ?? asking
    used.set(owner, (used.get(owner) ?? 0) + bytes)
  }
  used.delete(asking)
  return [...used.values()].reduce((all, bytes) => all + Math.max(0, bytes - shareOfOne * limits.budget), 0)
}

interface Measured {
  readonly holdings: readonly Holding[]
  readonly bytes: number
  /** When it was measured, in ms of `performance.now()`. */
  readonly at: number
}

/** The measurement with a newer count of one workspace. If the new sum exceeds the budget, eviction runs before the next workspace is made. */
function withCount(
  { holdings, bytes: before, at }: Measured,
  { dir, bytes }: Pick<Holding, 'dir' | 'bytes'>,
  budget: number,
): Measured {
  const others = holdings.filter((one) => one.dir !== dir)
  const all = sum(others) + bytes
  const own: Holding = { kind: 'workspace', dir, bytes, usedAt: Date.now() }
  return { holdings: [...others, own], bytes: all, at: before <= budget && all > budget ? -Infinity : at }
}

/** A workspace, a mirror or a project's environment on the disk. */
export interface Holding {
  readonly kind: 'workspace' | 'mirror' | 'environment'
  readonly dir: string
  readonly bytes: number
  /** When it was last used, in milliseconds since 1970. */
  readonly usedAt: number
}

async function clearOnce(options: EvictionOptions): Promise<Cleared> {
  const { limits, idleMs = 15 * 60_000 } = options
  await removeLeftovers(options)
  const holdings = await holdingsOf(options)
  let bytes = sum(holdings)
  const idle =
    bytes <= limits.budget
      ? []
      : holdings
          .filter(({ usedAt }) => Date.now() - usedAt >= idleMs)
          .sort((one, other) => one.usedAt - other.usedAt)
  const [tasks, mirrors, environments] = (['workspace', 'mirror', 'environment'] as const).map((kind) =>
    idle.filter(isOf(kind)),
  )
  const evictions = [
    ...(tasks ?? []).map((task) => ({
      ...task,
      evict: () => evictTask(options, task.dir, removalOfDeleted),
    })),
    ...(environments ?? []).map((layer) => ({
      ...layer,
      evict: () => removeLayer(layer.dir, options.path).then(() => layer.bytes),
    })),
    ...(tasks ?? []).map((task) => ({ ...task, evict: () => evictTask(options, task.dir, removalOf) })),
    ...(mirrors ?? []).map((mirror) => ({ ...mirror, evict: () => removeMirror(options, mirror, idleMs) })),
  ]
  const gone: Holding[] = []
  // The goal is a little below the budget, so that the next task does not exceed it again at once.
  const goal = 0.9 * limits.budget
  for (const { evict, ...one } of evictions) {
    if (bytes <= goal) break
    if (gone.some(({ dir }) => dir === one.dir)) continue
    const freed = await evict()
    if (freed === undefined) continue
    bytes -= freed
    gone.push(one)
  }
  if (bytes > limits.budget) options.onFull?.(bytes)
  return {
    bytes,
    workspaces: gone.filter(isOf('workspace')).map(({ dir }) => basename(dir)),
    mirrors: gone.filter(isOf('mirror')).map(({ dir }) => dir),
    holdings: holdings.filter((one) => gone.every(({ dir }) => dir !== one.dir)),
  }
}

const isOf =
  (kind: Holding['kind']) =>
  (holding: Holding): boolean =>
    holding.kind === kind

/** Evicts a workspace that nothing uses, and returns the freed bytes; `undefined` when it stays. */
async function evictTask(
  options: EvictionOptions,
  dir: string,
  findRemoval: typeof removalOf,
): Promise<number | undefined> {
  const { locks, isInUse, path } = options
  const taskId = basename(dir)
  return locks.holdIfFree(taskId, async () => {
    const remove = isInUse(taskId) ? undefined : await findRemoval(options, taskId)
    if (!remove || isInUse(taskId)) return undefined
    const before = await sizesOf([dir], path)
    await remove()
    const after = await sizesOf([dir], path)
    return (before.get(dir) ?? 0) - (after.get(dir) ?? 0)
  })
}

/** Removes a mirror and returns its bytes; `undefined` when a workspace uses the mirror, or when it was used within `idleMs`. */
async function removeMirror(
  options: EvictionOptions,
  { dir, bytes }: Pick<Holding, 'dir' | 'bytes'>,
  idleMs: number,
): Promise<number | undefined> {
  if ((await mirrorsInUse(options)).has(dir)) return undefined
  const gone = join(dirname(dir), `${leftover}${basename(dir)}`)
  // A refresh first marks the mirror as used. These calls are synchronous, so nothing else in this process comes between them.
  if (Date.now() - statSync(dir).mtimeMs < idleMs) return undefined
  renameSync(dir, gone)
  await removeFolder(gone, options.path)
  return bytes
}

async function keptBytes({ root, path }: EvictionOptions, taskId: string): Promise<number> {
  const { kept } = await incompleteOf(root, taskId)
  const sizes = await sizesOf(
    kept.map((name) => join(taskFolder(root, taskId), name)),
    path,
  )
  return [...sizes.values()].reduce((all, bytes) => all + bytes, 0)
}

/** Returns a function that removes the workspace of a deleted task, whatever it contains; `undefined` when the task was not deleted. */
async function removalOfDeleted(
  { root, path, isDeleted }: EvictionOptions,
  taskId: string,
): Promise<(() => Promise<unknown>) | undefined> {
  return (await isDeleted(taskId)) ? () => removeWorkspace(root, taskId, path) : undefined
}

/**
 * Returns a function that removes a task's workspace if nothing is lost: the workspace is incomplete or outdated, or has no work of its own. Otherwise
 * returns `undefined`. A workspace that cannot be inspected stays, and does not prevent the removal of others.
 */
async function removalOf(
  options: EvictionOptions,
  taskId: string,
): Promise<(() => Promise<unknown>) | undefined> {
  const { root, path, git } = options
  try {
    if (await options.isElsewhere(taskId)) return () => removeWorkspace(root, taskId, path)
    const workspace = await workspaceAt(options, taskId)
    if (!workspace) {
      const { gone } = await incompleteOf(root, taskId)
      return gone.length > 0 ? () => removeIncomplete(root, taskId, path) : undefined
    }
    if ((await hasWorkAside(git, workspace)) || !(await isFullyPushed(options, workspace))) return undefined
    const head = await commitOf(git, workspace.privateGitDir, 'HEAD')
    if (head !== null && (await mayHoldNamedContent(git, workspace, head))) return undefined
    return () => evictWorkspace(root, taskId, path, head)
  } catch (fault) {
    options.onFault(fault)
    return undefined
  }
}

/** Whether a workspace may have content that its last commit only names: files in Git LFS, or commits that a submodule was moved to. */
async function mayHoldNamedContent(
  git: Git,
  { privateGitDir: gitDir, startCommit }: Workspace,
  head: string,
): Promise<boolean> {
  // The index has the files themselves, where the commit has pointers.
  const compared = await git({ gitDir, args: ['diff-index', '--cached', '--quiet', head, '--'] })
  if (!endedWell(compared)) return true
  const from = startCommit ?? (await emptyTree(git, gitDir))
  const args = ['diff-tree', '-r', '--ignore-submodules=none', from, head, '--']
  return /^:\d+ 160000 /m.test(await gitText(git, { gitDir, args }))
}

/**
 * Whether the code host has everything in a workspace: its last commit, and every file that is neither ignored nor an artifact. Ignored files do not
 * count, since they can be made again.
 */
export async function isFullyPushed(
  { git, treeGitFor }: Pick<EvictionOptions, 'git' | 'treeGitFor'>,
  workspace: Workspace,
): Promise<boolean> {
  const { privateGitDir: gitDir, branch, baseBranch, startCommit } = workspace
  const [head, ...hosted] = await Promise.all(
    ['HEAD', `refs/remotes/origin/${branch}`, `refs/remotes/origin/${baseBranch}`].map((ref) =>
      commitOf(git, gitDir, ref),
    ),
  )
  const isHosted = head == null ? startCommit === null : hosted.includes(head)
  if (!isHosted) return false
  const differences = await withScratchIndex(workspace, (index) =>
    treeDifferences(treeGitFor(workspace), workspace, index, 1),
  ).catch(() => undefined)
  if (!differences) return false
  const { tracked, submodules, untracked, nested } = differences
  return [tracked, submodules, untracked, nested].every((paths) => paths.length === 0)
}

/**
 * The workspace of a task on this runner. It is found from its folder alone, without the project or the code host. Throws when the folder does not
 * name the mirror of the workspace.
 */
export async function workspaceAt(
  { root }: Pick<EvictionOptions, 'root'>,
  taskId: string,
): Promise<Workspace | undefined> {
  if (!(await hasWorkspace(root, taskId))) return undefined
  const [objects] = await alternatesOf(join(root, 'tasks', taskId, 'git'))
  if (objects === undefined) throw new Error('the workspace does not say which mirror it stands on')
  return readWorkspace({ root, taskId, mirror: { dir: dirname(objects), objects } })
}

/** The mirrors that workspaces use, whether or not the workspaces are complete. */
async function mirrorsInUse({ root }: EvictionOptions): Promise<ReadonlySet<string>> {
  const tasks = await foldersIn(join(root, 'tasks'))
  const objects = await Promise.all(tasks.map((name) => alternatesOf(join(root, 'tasks', name, 'git'))))
  return new Set(objects.flat().map((path) => dirname(path)))
}

async function holdingsOf({ root, path }: EvictionOptions): Promise<readonly Holding[]> {
  const tasks = (await foldersIn(join(root, 'tasks')))
    .filter(isTaskFolderName)
    .map((name) => join(root, 'tasks', name))
  const mirrors = await mirrorsIn(root)
  const environments = (await allLayers(root)).map(({ dir }) => dir)
  const sizes = await sizesOf([...tasks, ...mirrors, ...environments], path)
  const used = (at: string) =>
    stat(at).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    )
  const holding = async (kind: Holding['kind'], dir: string, usedAt: number): Promise<Holding> => {
    return { kind, dir, bytes: sizes.get(dir) ?? 0, usedAt }
  }
  return Promise.all([
    // Without a marker, a workspace is incomplete, evicted or being made, and counts as never used.
    ...tasks.map(async (dir) => holding('workspace', dir, await used(join(dir, 'ready.json')))),
    ...mirrors.map(async (dir) => holding('mirror', dir, await used(dir))),
    ...environments.map(async (dir) => holding('environment', dir, await used(dir))),
  ])
}

async function mirrorsIn(root: string): Promise<readonly string[]> {
  const owners = (await foldersIn(root)).map((name) => join(root, name))
  const found = await Promise.all(
    owners.map(async (owner) =>
      (await foldersIn(owner))
        .filter((name) => !name.startsWith('.') && /-[0-9a-f]{12}\.git$/.test(name))
        .map((name) => join(owner, name)),
    ),
  )
  return found.flat()
}

async function removeLeftovers({ root, path }: EvictionOptions): Promise<void> {
  for (const owner of await foldersIn(root))
    for (const name of await foldersIn(join(root, owner)))
      if (name.startsWith(leftover)) await removeFolder(join(root, owner, name), path)
}

async function foldersIn(dir: string): Promise<readonly string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(ifAbsent)
  return (entries ?? []).filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

function sum(holdings: readonly Holding[]): number {
  return holdings.reduce((all, { bytes }) => all + bytes, 0)
}

const leftover = '.gone-'
