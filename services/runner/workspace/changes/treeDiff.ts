/** Compares a task's tree with a commit, within limits and without opening special files that an agent may have made. */
import { endedWell, GitFault, gitOrThrow, type GitCall } from '../git/git.ts'
import type { Workspace, WorkspaceGit } from '../workspace.ts'
import { readDiff, type DiffLimits, type FileDiff } from './patch.ts'
import { scratchObjects, stageTree, type StagedTree } from './stagedTree.ts'
import {
  isUnreadable,
  kindAt,
  treeDifferences,
  type ScratchIndex,
  type TreeDifferences,
  type TreePath,
} from './indexDifferences.ts'

export interface ChangedFile {
  readonly fileName: string
  readonly previousName?: string
  /** A new file is `added` if we committed it or the agent's git tracks it, and `untracked` otherwise. */
  readonly status: 'added' | 'untracked' | 'modified' | 'deleted' | 'renamed'
  readonly additions: number
  readonly deletions: number
  readonly binary: boolean
  /** A unified diff as git writes it. If it was cut or left out, its last line begins with `\` and says so. */
  readonly diff: string
  /** Whether the entry is a nested repository, which is not published. */
  readonly leftOut?: true
}

/** The size in bytes above which a file is not read for a diff. */
const largestReadFile = 10_000_000

/** The differences between a task's files and the commit `against`. The files are those of a git tree, or those in the workspace's folder. */
export interface TreeDiff {
  /** The compared tree; `null` when the folder itself was read. */
  readonly tree: string | null
  readonly diffs: readonly FileDiff[]
  /** Files that are listed but not read: large files, files without permission, nested repositories, and files whose names git refuses. */
  readonly unread: readonly ChangedFile[]
  /** How many files differ, including those that are not listed. */
  readonly total: number
  readonly truncated: boolean
}

export interface TreeComparison extends WorkspaceGit {
  readonly index: ScratchIndex
  readonly against: string
  readonly limits: DiffLimits
}

/**
 * The files that are compared. `folder`: those of the present folder, in which an agent may be writing. `tree`: those of the tree that would be
 * committed from the folder. A `StagedTree`: those of a tree that was staged before.
 */
export type DiffSource = 'folder' | 'tree' | StagedTree

/** Compares the files of `from` with `against`. If the folder cannot be staged for `tree`, the present folder is compared instead. */
export async function readTreeDiff({
  from,
  ...reading
}: TreeComparison & { readonly from: DiffSource }): Promise<TreeDiff> {
  if (from === 'folder') return readFolder(reading)
  if (from !== 'tree') return readStaged(reading, from, {})
  const env = await scratchObjects(reading.workspace, reading.index)
  const staged = await stageTree({ ...reading, env, timeoutMs: 60_000 }, reading.index)
  return staged.kind === 'staged' ? readStaged(reading, staged, env) : readFolder(reading)
}

/** Compares the staged tree with the tree `against`, without reading the files in the workspace's folder again. */
async function readStaged(
  reading: TreeComparison,
  staged: StagedTree,
  env: Readonly<Record<string, string>>,
): Promise<TreeDiff> {
  const { workspace, against, limits } = reading
  const unread = [
    ...nestedEntries(staged.nested),
    ...staged.files
      .filter(({ size }) => size > largestReadFile)
      .map(({ path, isNew }) => tooLargeEntry(path, isNew)),
  ]
  const { files, total } = await readPatch(reading, [against, staged.tree], env)
  const isShort = total > files.length
  const small = staged.files.flatMap(({ path, size, isNew }) =>
    isNew && size <= largestReadFile ? [path] : [],
  )
  const refused = isShort ? [] : await refusedNames(workspace, small.slice(0, limits.files), files)
  return {
    tree: staged.tree,
    diffs: withoutListed(files, unread),
    unread: [...unread, ...refused],
    // Large files are part of the tree, so the diff has already counted them.
    total: total + staged.nested.length + refused.length,
    truncated: isShort,
  }
}

async function readFolder(reading: TreeComparison): Promise<TreeDiff> {
  const { treeGit: git, workspace, index, against, limits } = reading
  const on = { gitDir: workspace.privateGitDir, workTree: workspace.dir, env: { GIT_INDEX_FILE: index.file } }
  const differences = await treeDifferences(git, workspace, index, limits.files)
  const { entries, unread, listed } = await plan(workspace, differences, limits)
  if (entries.length > 0)
    await gitOrThrow(git, {
      ...on,
      args: ['update-index', '-z', '--index-info'],
      input: Buffer.concat(entries),
    })

  const { files, total } = await readPatch(reading, [against], {})
  const isShort = differences.truncated || differences.untracked.length > limits.files || total > files.length
  const refused = isShort ? [] : await refusedNames(workspace, listed, files)
  const diffs = withoutListed(files, unread)
  const unlisted = Math.max(0, differences.untracked.length - limits.files)
  return {
    tree: null,
    diffs,
    unread: [...unread, ...refused],
    total: total - (files.length - diffs.length) + unread.length + refused.length + unlisted,
    truncated: isShort,
  }
}

/**
 * Removes from the diff the files that are listed as unread. Otherwise a file that was taken out of the index would look deleted in the diff, and a
 * large file would have no lines.
 */
function withoutListed(files: readonly FileDiff[], unread: readonly ChangedFile[]): readonly FileDiff[] {
  const listed = new Set(unread.map(({ fileName }) => fileName))
  return files.filter(({ path }) => !listed.has(path.toString('utf8')))
}

async function readPatch(
  { treeGit, workspace, index, limits }: TreeComparison,
  trees: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const reader = readDiff(limits)
  const call: GitCall = {
    gitDir: workspace.privateGitDir,
    workTree: workspace.dir,
    env: { GIT_INDEX_FILE: index.file, ...env },
    args: [
      // When git compares two trees, it only reads attributes if it runs in the folder that has them.
      '-C',
      workspace.dir,
      '-c',
      `core.bigFileThreshold=${largestReadFile}`,
      'diff',
      '-z',
      '--raw',
      '--numstat',
      '--patch',
      '--full-index',
      '--no-color',
      '--no-ext-diff',
      '--no-textconv',
      '--ignore-submodules=dirty',
      '--find-renames',
      '-l1000',
      ...trees,
      '--',
    ],
    onStdout: (chunk) => reader.push(chunk),
  }
  const finished = await treeGit(call)
  if (finished.endedBy !== 'reader' && !endedWell(finished)) throw new GitFault(call, finished)
  return reader.end()
}

/** New files whose names git refuses in any index, such as `git~1`: on another file system, that name is git's own directory. */
async function refusedNames(
  workspace: Workspace,
  listed: readonly TreePath[],
  files: readonly FileDiff[],
): Promise<readonly ChangedFile[]> {
  const shown = new Set(files.map(({ path }) => path.toString('latin1')))
  const refused: ChangedFile[] = []
  for (const path of listed.filter((path) => !shown.has(path.toString('latin1')))) {
    const { kind } = await kindAt(workspace, path)
    // A file that no longer exists was not refused.
    if (kind === 'file' || kind === 'link')
      refused.push(
        unreadEntry(path, 'untracked', "Git does not accept this file name, so it can't be committed."),
      )
  }
  return refused
}

/**
 * Makes the index entries with which one `git diff` shows everything: they add new files, and remove files that must not be opened. An added entry
 * has nothing but a name: git finds that the file differs, and reads it.
 */
async function plan(workspace: Workspace, differences: TreeDifferences, limits: DiffLimits) {
  const entries: Buffer[] = []
  const listed: TreePath[] = []
  const unread: ChangedFile[] = nestedEntries(differences.nested)
  for (const path of differences.tracked) {
    const { kind, size } = await kindAt(workspace, path)
    if (kind === 'special') entries.push(indexRecord('0', path))
    const entry = kind === 'file' ? await unreadFile(workspace, path, { size, isNew: false }) : undefined
    if (!entry) continue
    entries.push(indexRecord('0', path))
    unread.push(entry)
  }
  for (const path of differences.untracked.slice(0, limits.files)) {
    const { kind, size } = await kindAt(workspace, path)
    if (kind !== 'file' && kind !== 'link') continue
    const entry = kind === 'file' ? await unreadFile(workspace, path, { size, isNew: true }) : undefined
    if (entry) {
      unread.push(entry)
      continue
    }
    entries.push(indexRecord('100644', path))
    listed.push(path)
  }
  return { entries, unread, listed }
}

function indexRecord(mode: '0' | '100644', path: TreePath): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${mode === '0' ? noObject : emptyBlob}\t`), path, Buffer.of(0)])
}

function nestedEntries(nested: readonly TreePath[]): ChangedFile[] {
  return nested.map((path) => {
    const folder = path.toString('utf8')
    const why = `This is a separate repository. Its contents are not part of the changes. Without ${folder}.git they would be.`
    return { ...unreadEntry(path, 'untracked', why), leftOut: true }
  })
}

/** The entry of a file that is listed without being read; `undefined` for any other file. */
async function unreadFile(
  workspace: Workspace,
  path: TreePath,
  { size, isNew }: { readonly size: number; readonly isNew: boolean },
): Promise<ChangedFile | undefined> {
  if (size > largestReadFile) return tooLargeEntry(path, isNew)
  return (await isUnreadable(workspace, path))
    ? unreadEntry(path, isNew ? 'untracked' : 'modified', 'The file cannot be read.')
    : undefined
}

function tooLargeEntry(path: TreePath, isNew: boolean): ChangedFile {
  return isNew
    ? unreadEntry(path, 'untracked', 'The file is too large to show.')
    : unreadEntry(path, 'modified', 'The file is too large to compare.')
}

function unreadEntry(path: TreePath, status: 'untracked' | 'modified', why: string): ChangedFile {
  return {
    fileName: path.toString('utf8'),
    status,
    additions: 0,
    deletions: 0,
    binary: true,
    diff: `\\ ${why}\n`,
  }
}

const noObject = '0'.repeat(40)
const emptyBlob = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
