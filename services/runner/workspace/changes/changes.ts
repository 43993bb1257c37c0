/** What a task has changed: the content of its tree against the point where its branch left the base. */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { trackedByAgent } from './agentIndex.ts'
import { currentBranchOf } from './currentBranch.ts'
import { commitOf, emptyTree, endedWell, GitFault, gitOrThrow, gitText } from '../git/git.ts'
import type { Git, GitCall } from '../git/git.ts'
import { readDiff } from './patch.ts'
import type { DiffLimits, FileDiff } from './patch.ts'
import { scratchObjects, stageTree, type StagedTree } from './stage.ts'
import { kindAt, splitNul, treeDifferences, withScratchIndex } from './tree.ts'
import type { ScratchIndex, TreeDifferences, TreePath } from './tree.ts'
import type { Workspace } from '../workspace.ts'

export interface ChangedFile {
  readonly fileName: string
  /** Where a renamed file was. */
  readonly previousName?: string
  /** A new file is `added` where we committed it or the agent's git tracks it, and `untracked` where neither. */
  readonly status: 'added' | 'untracked' | 'modified' | 'deleted' | 'renamed'
  readonly additions: number
  readonly deletions: number
  readonly binary: boolean
  /** Unified diff, as git writes it; where it was cut or left out, a last line beginning with `\` says so. */
  readonly diff: string
}

export type Changes =
  | {
      readonly kind: 'changes'
      /** Where git stands in the tree; the work is pushed on the workspace's branch, whatever this is. */
      readonly currentBranch: string
      readonly baseBranch: string
      /** Our last commit; `null` before the first one of an empty repository. */
      readonly head: string | null
      /** Commits, ours and the base's, since they parted. */
      readonly ahead: number
      readonly behind: number
      readonly files: readonly ChangedFile[]
      /** The tree that this is the diff of; `null` when the folder was read, or cannot be committed as it is. */
      readonly tree: string | null
      /** Whether `files` or a diff in it is not whole. */
      readonly truncated: boolean
    }
  | { readonly kind: 'base_not_found'; readonly baseBranch: string }

export interface ReadChangesRequest {
  /** Git on the host, for the history: `hostGit`. */
  readonly git: Git
  /** Git that may read what an agent wrote: `Sandbox.gitFor(workspace)`. */
  readonly treeGit: Git
  readonly workspace: Workspace
  readonly baseBranch: string
  /**
   * What is read: the folder as it is, which an agent may be writing in (when not given); what would be committed of it; or a tree that was
   * staged before, with its objects in the private git directory.
   */
  readonly from?: 'folder' | 'tree' | StagedTree
  readonly limits?: DiffLimits
  /** Of each call of git; 30 s when not given. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export const defaultDiffLimits: DiffLimits = { files: 2_000, fileBytes: 200_000, totalBytes: 5_000_000 }

/** Above this a file is not read for a diff; bytes. */
const largestReadFile = 10_000_000

/**
 * Reads the changes, also while an agent writes. Only the tree's content counts: of the agent's own git directory nothing is read but
 * where it stands and which files it tracks. Throws `GitFault` when the tree cannot be read.
 */
export async function readChanges(request: ReadChangesRequest): Promise<Changes> {
  const { workspace, baseBranch } = request
  const bounded =
    (git: Git): Git =>
    (call) =>
      git({ signal: request.signal, timeoutMs: request.timeoutMs ?? 30_000, ...call })
  const git = bounded(request.git)
  const treeGit = bounded(request.treeGit)
  const gitDir = workspace.privateGitDir
  const limits = request.limits ?? defaultDiffLimits

  const [head, base, currentBranch] = await Promise.all([
    commitOf(git, gitDir, 'HEAD'),
    currentBase(git, workspace, baseBranch),
    currentBranchOf(workspace),
  ])
  // The base of an empty repository is there only once it was pushed.
  if (base === null && !(workspace.startCommit === null && baseBranch === workspace.baseBranch))
    return { kind: 'base_not_found', baseBranch }

  const mergeBase = head === null || base === null ? base : await mergeBaseOf(git, gitDir, base, head)
  // Where only the end of a history was fetched, two branches may have parted before.
  const fallback = (await isShallow(gitDir)) ? base : null
  const against = mergeBase ?? fallback ?? (await emptyTree(git, gitDir))
  const [[ahead, behind], committed] = await Promise.all([
    distance(git, gitDir, head, base),
    committedPaths(git, gitDir, against, head),
  ])
  const toStatus = (diff: FileDiff): ChangedFile['status'] =>
    diff.kind === 'added' && !committed.has(diff.path.toString('latin1')) ? 'untracked' : diff.kind
  const { files, ...read } = await readSteadily(() =>
    withScratchIndex(workspace, async (index) => {
      const from = request.from ?? 'folder'
      const read = await readFrom({ git, treeGit, workspace, index, against, limits, from })
      const found = [...read.diffs.map((diff) => changedFile(diff, toStatus(diff), limits)), ...read.unread]
      return { ...read, files: await withTracked({ treeGit, workspace, index }, found) }
    }),
  )
  return {
    kind: 'changes',
    currentBranch,
    baseBranch,
    head,
    ahead,
    behind,
    tree: read.tree,
    files: files.slice(0, limits.files),
    truncated: read.truncated || files.length > limits.files || read.diffs.some(({ cut }) => cut),
  }
}

/** New files that the agent staged or committed are `added`. */
async function withTracked(
  { treeGit, workspace, index }: Pick<Reading, 'treeGit' | 'workspace' | 'index'>,
  files: readonly ChangedFile[],
): Promise<readonly ChangedFile[]> {
  const isNew = ({ status }: ChangedFile) => status === 'untracked'
  const names = new Set(files.filter(isNew).map(({ fileName }) => fileName))
  if (names.size === 0) return files
  const tracked = await trackedByAgent(treeGit, workspace, index, names)
  return files.map((file) =>
    isNew(file) && tracked.has(file.fileName) ? { ...file, status: 'added' } : file,
  )
}

interface TreeReading {
  readonly tree: string | null
  readonly diffs: readonly FileDiff[]
  /** What is told of and not looked into: large files, repositories of their own. */
  readonly unread: readonly ChangedFile[]
  readonly truncated: boolean
}

interface Reading {
  readonly git: Git
  readonly treeGit: Git
  readonly workspace: Workspace
  readonly index: ScratchIndex
  /** The tree or commit to compare with. */
  readonly against: string
  readonly limits: DiffLimits
}

/** Where the folder cannot be committed as it is, it is read none the less. */
async function readFrom({
  from,
  ...reading
}: Reading & { readonly from: NonNullable<ReadChangesRequest['from']> }): Promise<TreeReading> {
  if (from === 'folder') return readFolder(reading)
  if (from !== 'tree') return readStaged(reading, from, {})
  const env = await scratchObjects(reading.workspace, reading.index)
  const staged = await stageTree({ ...reading, env, timeoutMs: 30_000 }, reading.index)
  return staged.kind === 'staged' ? readStaged(reading, staged, env) : readFolder(reading)
}

/** One tree against the other: the folder is not looked at again. */
async function readStaged(
  reading: Reading,
  staged: StagedTree,
  env: Readonly<Record<string, string>>,
): Promise<TreeReading> {
  const { workspace, against, limits } = reading
  const unread = [
    ...nestedTold(staged.nested),
    ...staged.files
      .filter(({ size }) => size > largestReadFile)
      .map(({ path, isNew }) => tooLargeTold(path, isNew)),
  ]
  const { files, total } = await readPatch(reading, [against, staged.tree], env)
  const isShort = total > files.length
  const small = staged.files.flatMap(({ path, size, isNew }) =>
    isNew && size <= largestReadFile ? [path] : [],
  )
  const refused = isShort ? [] : await refusedByGit(workspace, small.slice(0, limits.files), files)
  return {
    tree: staged.tree,
    diffs: withoutTold(files, unread),
    unread: [...unread, ...refused],
    truncated: isShort,
  }
}

async function readFolder(reading: Reading): Promise<TreeReading> {
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
  const refused = isShort ? [] : await refusedByGit(workspace, listed, files)
  return {
    tree: null,
    diffs: withoutTold(files, unread),
    unread: [...unread, ...refused],
    truncated: isShort,
  }
}

/** Taking a file out of the index makes it look deleted, and of a large one git says only that it differs. */
function withoutTold(files: readonly FileDiff[], unread: readonly ChangedFile[]): readonly FileDiff[] {
  const told = new Set(unread.map(({ fileName }) => fileName))
  return files.filter(({ path }) => !told.has(path.toString('utf8')))
}

/** Of one tree against the other, or against the folder. */
async function readPatch(
  { treeGit, workspace, index, limits }: Reading,
  trees: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const reader = readDiff(limits)
  const call: GitCall = {
    gitDir: workspace.privateGitDir,
    workTree: workspace.dir,
    env: { GIT_INDEX_FILE: index.file, ...env },
    args: [
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

/** New files that git keeps out of every index, such as `git~1`: on some other machine they would be its own directory. */
async function refusedByGit(
  workspace: Workspace,
  listed: readonly TreePath[],
  files: readonly FileDiff[],
): Promise<readonly ChangedFile[]> {
  const shown = new Set(files.map(({ path }) => path.toString('latin1')))
  const refused: ChangedFile[] = []
  for (const path of listed.filter((path) => !shown.has(path.toString('latin1')))) {
    const { kind } = await kindAt(workspace, path)
    // What is gone by now was refused by nobody.
    if (kind === 'file' || kind === 'link')
      refused.push(untold(path, 'untracked', "Git does not accept this file name, so it can't be committed."))
  }
  return refused
}

/**
 * Makes new files known to the scratch index, so that one `git diff` sees all, and takes out of it what must not be opened.
 * An entry holds no more than the name: git finds that the file is not as recorded, and reads it.
 */
async function plan(workspace: Workspace, differences: TreeDifferences, limits: DiffLimits) {
  const entries: Buffer[] = []
  const listed: TreePath[] = []
  const unread: ChangedFile[] = nestedTold(differences.nested)
  for (const path of differences.tracked) {
    const { kind, size } = await kindAt(workspace, path)
    if (kind === 'special') entries.push(indexRecord('0', path))
    if (kind !== 'file' || size <= largestReadFile) continue
    entries.push(indexRecord('0', path))
    unread.push(tooLargeTold(path, false))
  }
  for (const path of differences.untracked.slice(0, limits.files)) {
    const { kind, size } = await kindAt(workspace, path)
    if (kind !== 'file' && kind !== 'link') continue
    if (size > largestReadFile) {
      unread.push(tooLargeTold(path, true))
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

function nestedTold(nested: readonly TreePath[]): ChangedFile[] {
  const why = 'This is a separate repository. Its contents are not part of the changes.'
  return nested.map((path) => untold(path, 'untracked', why))
}

function tooLargeTold(path: TreePath, isNew: boolean): ChangedFile {
  return isNew
    ? untold(path, 'untracked', 'The file is too large to show.')
    : untold(path, 'modified', 'The file is too large to compare.')
}

function untold(path: TreePath, status: 'untracked' | 'modified', why: string): ChangedFile {
  return {
    fileName: path.toString('utf8'),
    status,
    additions: 0,
    deletions: 0,
    binary: true,
    diff: `\\ ${why}\n`,
  }
}

function changedFile(diff: FileDiff, status: ChangedFile['status'], limits: DiffLimits): ChangedFile {
  const { path, previousPath, additions, deletions, binary, patch, cut } = diff
  const isLong = patch.length > 0
  const note = isLong
    ? `\\ The diff is longer than ${Math.round(limits.fileBytes / 1000)} KB and was cut here.\n`
    : '\\ There are too many changes to show this diff.\n'
  return {
    fileName: path.toString('utf8'),
    ...(previousPath && { previousName: previousPath.toString('utf8') }),
    status,
    additions,
    deletions,
    binary,
    diff: patch.toString('utf8') + (cut ? note : ''),
  }
}

/** The base as the mirror has it now, or else as it was when the workspace was made; `null` where there is no such branch. */
export async function currentBase(
  git: Git,
  workspace: Workspace,
  baseBranch: string,
): Promise<string | null> {
  if (baseBranch.startsWith('-')) return null
  return (
    (await commitOf(git, workspace.mirrorDir, `refs/heads/${baseBranch}`)) ??
    (await commitOf(git, workspace.privateGitDir, `refs/remotes/origin/${baseBranch}`))
  )
}

/** `null` for branches that have no commit in common. */
export async function mergeBaseOf(
  git: Git,
  gitDir: string,
  base: string,
  head: string,
): Promise<string | null> {
  const found = await git({ gitDir, args: ['merge-base', base, head] })
  if (found.endedBy === 'itself' && found.code === 1) return null
  if (!endedWell(found)) throw new GitFault({ args: ['merge-base'] }, found)
  return found.stdout.toString('utf8').trim()
}

async function distance(
  git: Git,
  gitDir: string,
  head: string | null,
  base: string | null,
): Promise<readonly [ahead: number, behind: number]> {
  const range = head === null || base === null ? (head ?? base) : `${base}...${head}`
  if (range === null) return [0, 0]
  const counted = await gitText(git, { gitDir, args: ['rev-list', '--left-right', '--count', range] })
  const [left = 0, right = 0] = counted.split('\t').map(Number)
  // Of one commit alone, git counts everything on the right.
  return base !== null && head === null ? [0, right] : [right, left]
}

/** Paths that our commits added, as latin1 keys. */
async function committedPaths(
  git: Git,
  gitDir: string,
  from: string,
  head: string | null,
): Promise<ReadonlySet<string>> {
  if (head === null || head === from) return new Set()
  const args = [
    'diff-tree',
    '-r',
    '-z',
    '--name-only',
    '--diff-filter=A',
    '--ignore-submodules=dirty',
    from,
    head,
    '--',
  ]
  const listed = await gitOrThrow(git, { gitDir, args })
  return new Set(splitNul(listed.stdout).whole.map((path) => path.toString('latin1')))
}

async function isShallow(gitDir: string): Promise<boolean> {
  return access(join(gitDir, 'shallow')).then(
    () => true,
    () => false,
  )
}

/** A file may vanish between git's look at it and its reading; then the next reading finds the tree as it is. */
async function readSteadily<T>(read: () => Promise<T>): Promise<T> {
  for (const pauseMs of [20, 80, 200, 500]) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof GitFault) || error.finished.endedBy !== 'itself') throw error
      await delay(pauseMs)
    }
  }
  return read()
}

const noObject = '0'.repeat(40)
const emptyBlob = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
