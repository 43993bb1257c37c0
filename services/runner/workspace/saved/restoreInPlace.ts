/**
 * Sets a workspace back to the files of a snapshot. Only files that a snapshot taken now would contain are changed or removed: ignored files, and
 * those that are too large for a snapshot, are neither read nor written.
 */
import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { splitNul, withScratchIndex, type ScratchIndex, type TreePath } from '../changes/indexDifferences.ts'
import { gitOrThrow, gitText, type Git, type GitCall } from '../git/git.ts'
import { refreshIndex, settleOwner, type Workspace, type WorkspaceGit } from '../workspace.ts'
import { defaultWorkLimits, joinNul, openPlainGit, writeTree, type PlainGit } from './plainTree.ts'

/** The arguments of a restore. While the restore runs, nothing else may run in the workspace. */
export interface RestoreInPlaceRequest extends WorkspaceGit {
  /** The `PATH` in which a restore finds `chown`, the only program that it runs besides git. */
  readonly path: string
  /** A commit or tree in the private git directory. */
  readonly target: string
}

/** A file that a restore writes or removes. */
export interface RestoredFile {
  readonly path: string
  /** What the restore does: the file comes back, gets its earlier content, or is removed. */
  readonly change: 'added' | 'modified' | 'deleted'
}

export type RestoreInPlaceResult =
  | {
      readonly kind: 'restored'
      readonly files: readonly RestoredFile[]
      /** Files of the snapshot that stay unchanged, because git ignores them now or something else is at their path. */
      readonly kept: readonly string[]
    }
  /** The folder is too large. The sentence can be shown to the person. */
  | { readonly kind: 'too_large'; readonly message: string }

/**
 * Restores the files of `target` in the workspace. An interrupted restore is repeated as a whole. The branch, and the agent's own `.git`, stay as
 * they are. Throws `GitFault`.
 */
export async function restoreInPlace(request: RestoreInPlaceRequest): Promise<RestoreInPlaceResult> {
  const { git, workspace, path } = request
  return withScratchIndex(workspace, async (index) => {
    const plan = await planOf(request, index)
    if (plan.kind === 'too_large') return plan
    const { plain, now, target, ...restored } = plan
    // These rules are written before the files, so that a restore that is repeated does not take ignored files for new ones, and remove them.
    const ignored = await ignoredPaths(request, plain)
    await writeIgnoreRules(workspace, ignored)
    const args = ['read-tree', '--reset', '-u', now, target]
    if (now !== target) {
      await gitOrThrow(git, { ...plain, timeoutMs: 600_000, args })
      await checkOutIndexed(request, plain, { now, target })
    }
    if (ignored.length > 0) await writeIgnoreRules(workspace, await newlyVisible(request, plain))
    await settleOwner(workspace, path)
    await refreshIndex(git, workspace)
    return restored
  })
}

/** The paths that git ignores in the workspace. A folder that a rule names stands for everything in it. */
async function ignoredPaths(
  { treeGit, workspace }: Pick<RestoreInPlaceRequest, 'treeGit' | 'workspace'>,
  { env }: PlainGit,
): Promise<readonly TreePath[]> {
  const on = { gitDir: workspace.privateGitDir, workTree: workspace.dir, env, ...longListing }
  const args = ['status', '--porcelain', '-z', '--ignored=matching', '--untracked-files=all', '--no-renames']
  const listed = await gitOrThrow(treeGit, { ...on, args: [...args, '--ignore-submodules=all'] })
  const entries = splitNul(listed.stdout).whole
  return entries.flatMap((entry) => (entry.toString('latin1', 0, 3) === '!! ' ? [entry.subarray(3)] : []))
}

/** The ignored paths that the rules in the restored files no longer name. */
async function newlyVisible(
  request: Pick<RestoreInPlaceRequest, 'treeGit' | 'workspace'>,
  plain: PlainGit,
): Promise<readonly TreePath[]> {
  const ignored = await ignoredPaths(request, plain)
  // This git directory has no rules of its own, so that only those of the files count.
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']
  const listed = await gitOrThrow(request.treeGit, { ...plain, ...longListing, args })
  const still = new Set(splitNul(listed.stdout).whole.map((path) => path.toString('latin1')))
  return ignored.filter((path) => !still.has(path.toString('latin1')))
}

const longListing = { timeoutMs: 300_000, maxOutputBytes: 128 * 1024 ** 2 }

/** Makes git ignore these paths, and no others, in addition to what the files of the workspace say. */
async function writeIgnoreRules({ privateGitDir }: Workspace, paths: readonly TreePath[]): Promise<void> {
  // A rule cannot name a path with a line break.
  const names = paths.map((path) => path.toString('latin1')).filter((name) => !/[\r\n]/.test(name))
  const rules = names.slice(0, mostRules).map((name) => `/${name.replace(/[\\*?[ ]/g, '\\$&')}\n`)
  await mkdir(join(privateGitDir, 'info'), { recursive: true })
  await writeFile(join(privateGitDir, 'info', 'exclude'), rules.join(''), 'latin1')
}

/** Each reading of the workspace compares each new file with each rule. */
const mostRules = 5_000

/**
 * Writes the restored files that are equal to those in the index once more, as the attributes say, such as with other line ends. A check-out wrote
 * them so, and a snapshot has such files as the index has them. Does nothing if the restored attributes are not those of the index.
 */
async function checkOutIndexed(
  { git, workspace }: Pick<RestoreInPlaceRequest, 'git' | 'workspace'>,
  plain: PlainGit,
  { now, target }: { readonly now: string; readonly target: string },
): Promise<void> {
  const { privateGitDir: gitDir, dir: workTree } = workspace
  const list = async (call: Omit<GitCall, 'gitDir'>) =>
    splitNul((await gitOrThrow(git, { ...plain, ...longListing, ...call })).stdout).whole
  const names = ['-z', '--no-renames', '--name-only']
  const written = await list({ args: ['diff-tree', '-r', ...names, '--diff-filter=AMT', now, target] })
  const env = { GIT_INDEX_FILE: join(gitDir, 'index') }
  const others = (await list({ env, args: ['diff-index', '--cached', ...names, target] })).map((path) =>
    path.toString('latin1'),
  )
  if (others.some((path) => /(?:^|\/)\.gitattributes$/.test(path))) return
  const differing = new Set(others)
  const indexed = written.filter((path) => !differing.has(path.toString('latin1')))
  if (indexed.length === 0) return
  const args = ['checkout-index', '--force', '-z', '--stdin']
  await gitOrThrow(git, { gitDir, workTree, timeoutMs: 600_000, args, input: joinNul(indexed) })
}

/** Returns what `restoreInPlace` would do, without changing anything. Throws `GitFault`. */
export async function previewRestore(
  request: Omit<RestoreInPlaceRequest, 'path'>,
): Promise<RestoreInPlaceResult> {
  const plan = await withScratchIndex(request.workspace, (index) => planOf(request, index))
  return plan.kind === 'restored' ? { kind: 'restored', files: plan.files, kept: plan.kept } : plan
}

/**
 * Plans a restore. In the result, `now` is the tree of the files that the restore may touch, and `target` is the tree that they will have. At the
 * end, the index has the files of `now`.
 */
async function planOf(request: Omit<RestoreInPlaceRequest, 'path'>, index: ScratchIndex) {
  const { git, workspace } = request
  const plain = await openPlainGit(git, workspace, { index })
  const written = await writeTree(request, plain, defaultWorkLimits)
  if (written.kind === 'too_large') return written
  // The files that a snapshot leaves out are missing in `now`, although the index may still list them from an earlier commit.
  const now = await treeWithout(git, plain, written.leftOut)
  const inTheWay = await pathsInTheWay(request, plain, now)
  const other = { ...plain, env: { ...plain.env, GIT_INDEX_FILE: join(dirname(index.file), 'target') } }
  await gitOrThrow(git, { ...other, args: ['read-tree', request.target] })
  const target = await treeWithout(git, other, inTheWay)
  const files = await changedFiles(git, plain, now, target)
  return { kind: 'restored' as const, plain, now, target, files, kept: inTheWay.map(String).sort() }
}

/** Removes paths from the index and writes the index as a tree. */
async function treeWithout(git: Git, plain: PlainGit, paths: readonly TreePath[]): Promise<string> {
  // A path that ends with a slash is a nested repository, which the index does not contain.
  const files = paths.filter((path) => path.at(-1) !== 0x2f)
  const args = ['update-index', '-z', '--force-remove', '--stdin']
  if (files.length > 0) await gitOrThrow(git, { ...plain, args, input: joinNul(files) })
  return gitText(git, { ...plain, args: ['write-tree'] })
}

async function changedFiles(
  git: Git,
  plain: PlainGit,
  now: string,
  target: string,
): Promise<readonly RestoredFile[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--name-status', now, target]
  const fields = splitNul((await gitOrThrow(git, { ...plain, args })).stdout).whole.map(String)
  const files: RestoredFile[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const path = fields[at + 1] ?? ''
    files.push({ path, change: changes[fields[at] ?? ''] ?? 'modified' })
  }
  return files
}

const changes: Readonly<Record<string, RestoredFile['change']>> = { A: 'added', D: 'deleted' }

/** The files of the target that cannot be written without touching something outside of the snapshot. */
async function pathsInTheWay(
  { git, workspace, target }: Pick<RestoreInPlaceRequest, 'git' | 'workspace' | 'target'>,
  plain: PlainGit,
  now: string,
): Promise<readonly TreePath[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--diff-filter=A', '--name-only', now, target]
  const missing = splitNul((await gitOrThrow(git, { ...plain, args })).stdout).whole
  if (missing.length === 0) return []
  const listed = splitNul((await gitOrThrow(git, { ...plain, args: ['ls-files', '-z'] })).stdout).whole
  const indexed = new Set(listed.map((path) => path.toString('latin1')))
  const found: TreePath[] = []
  for (const path of missing) if (await isBlocked(workspace.dir, path, indexed)) found.push(path)
  return found
}

/** Whether something that is not in `indexed` is in the way of a path: at the path itself, or where one of its folders should be. */
async function isBlocked(dir: string, path: TreePath, indexed: ReadonlySet<string>): Promise<boolean> {
  const at = (inTree: TreePath) =>
    lstat(Buffer.concat([Buffer.from(`${dir}/`), inTree])).catch(() => undefined)
  for (let slash = path.indexOf(0x2f); slash !== -1; slash = path.indexOf(0x2f, slash + 1)) {
    const folder = path.subarray(0, slash)
    const entry = await at(folder)
    if (!entry) return false
    if (!entry.isDirectory()) return !indexed.has(folder.toString('latin1'))
  }
  const entry = await at(path)
  if (!entry) return false
  return entry.isDirectory() ? holdsOthers(dir, path, indexed) : true
}

/** Whether a folder has anything that is not `indexed`. */
async function holdsOthers(dir: string, folder: TreePath, indexed: ReadonlySet<string>): Promise<boolean> {
  const entries = await readdir(Buffer.concat([Buffer.from(`${dir}/`), folder]), {
    withFileTypes: true,
    encoding: 'buffer',
  }).catch(() => [])
  for (const entry of entries) {
    const path = Buffer.concat([folder, Buffer.from('/'), entry.name])
    const others = entry.isDirectory()
      ? await holdsOthers(dir, path, indexed)
      : !indexed.has(path.toString('latin1'))
    if (others) return true
  }
  return false
}
