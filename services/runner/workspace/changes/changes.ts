/** Reads the changes of a task: the content of its tree compared with the commit where its branch left the base. */
import { realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isBranchName } from '#domain/kernel/names.ts'
import { readPlain } from '../agentFiles.ts'
import { commitOf, emptyTree, endedWell, GitFault, gitOrThrow, gitText, type Git } from '../git/git.ts'
import { isShallowRepository } from '../git/repositoryLayout.ts'
import type { Workspace, WorkspaceGit } from '../workspace.ts'
import type { DiffLimits, FileDiff } from './patch.ts'
import { splitNul, withScratchIndex, type ScratchIndex } from './indexDifferences.ts'
import { readTreeDiff, type ChangedFile, type DiffSource, type TreeComparison } from './treeDiff.ts'

export type Changes =
  | {
      readonly kind: 'changes'
      /** The current branch of the agent's git, or a short commit id. The work is pushed to the workspace's branch in any case. */
      readonly currentBranch: string
      readonly baseBranch: string
      /** Our last commit; `null` in an empty repository before the first commit. */
      readonly head: string | null
      /** Commits on our branch since the merge base. */
      readonly ahead: number
      /** Commits on the base branch since the merge base. */
      readonly behind: number
      readonly files: readonly ChangedFile[]
      /** How many files differ, including those that are not in `files`. */
      readonly total: number
      /** The compared git tree; `null` when the folder itself was read, for example because it cannot be committed. */
      readonly tree: string | null
      /** Whether `files`, or a diff in it, is incomplete. */
      readonly truncated: boolean
    }
  | { readonly kind: 'base_not_found'; readonly baseBranch: string }

export interface ReadChangesRequest extends WorkspaceGit {
  readonly baseBranch: string
  /** The files to compare; the workspace's folder by default. The private git directory must have the objects of a staged tree. */
  readonly from?: DiffSource
  readonly limits?: DiffLimits
  /** The time limit of each git call that sets none itself; 30 s by default. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export const defaultDiffLimits: DiffLimits = { files: 2_000, fileBytes: 200_000, totalBytes: 5_000_000 }

/**
 * Reads the changes, even while an agent writes. Only the tree's content counts: of the agent's own git directory, only its HEAD and its index are
 * read. Throws `GitFault` when the tree cannot be read.
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
  // The base branch of an empty repository exists only after the first push, so it is no fault if this branch is missing.
  if (base === null && !(workspace.startCommit === null && baseBranch === workspace.baseBranch))
    return { kind: 'base_not_found', baseBranch }

  const mergeBase = head === null || base === null ? base : await mergeBaseOf(git, gitDir, base, head)
  // With a shallow history, the commit where the two branches parted may be missing. The files are then compared with the base branch itself.
  const fallback = (await isShallowRepository(gitDir)) ? base : null
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
      const read = await readTreeDiff({ git, treeGit, workspace, index, against, limits, from })
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
    total: Math.max(read.total, files.length),
    truncated: read.truncated || files.length > limits.files || read.diffs.some(({ cut }) => cut),
  }
}

/** Marks new files that the agent has staged or committed as `added`. */
async function withTracked(
  { treeGit, workspace, index }: Pick<TreeComparison, 'treeGit' | 'workspace' | 'index'>,
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

/**
 * The commit of the base branch: the one in the mirror now, or else the one from when the workspace was made; `null` when the branch does not exist.
 */
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

/** The commit where two branches parted, given the ids of their commits; `null` when they have no common commit. */
export async function mergeBaseOf(
  git: Git,
  gitDir: string,
  base: string,
  head: string,
): Promise<string | null> {
  if (base === head) return base
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
  if (range === null || base === head) return [0, 0]
  const counted = await gitText(git, { gitDir, args: ['rev-list', '--left-right', '--count', range] })
  const [left = 0, right = 0] = counted.split('\t').map(Number)
  // For a single commit instead of a range, git counts everything on the right side.
  return base !== null && head === null ? [0, right] : [right, left]
}

/** Paths that our commits added, as latin1 text. */
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

/** Repeats a read up to four times when git fails, because a file may have been removed after git had listed it. */
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

/** The size limit of git's file `HEAD`, in bytes. Names of branches and ids of commits are shorter. */
const largestHead = 4_096
const shortId = 7

/**
 * The current branch of the agent's git, or the short id of a commit for a detached HEAD. Only `HEAD` is read; if its content is not what git writes,
 * this is the branch that the workspace was made on.
 */
export async function currentBranchOf({ dir, branch }: Pick<Workspace, 'dir' | 'branch'>): Promise<string> {
  const root = await realpath(dir).catch(() => undefined)
  const read = root === undefined ? null : await readPlain(root, '.git/HEAD', largestHead)
  return standsOn(read?.toString('utf8') ?? '') ?? branch
}

function standsOn(head: string): string | undefined {
  const name = /^ref: refs\/heads\/(.+)\n$/.exec(head)?.[1]
  if (name !== undefined) return isBranchName(name) ? name : undefined
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n$/.test(head) ? head.slice(0, shortId) : undefined
}

/** The size limit of git's index, in bytes. The index of 500,000 files is smaller. */
const largestIndex = 64 * 1024 * 1024

/**
 * Which of `paths` the agent's git tracks. The index is copied as a plain file and read in the sandbox. An index that git did not write tracks
 * nothing.
 */
async function trackedByAgent(
  treeGit: Git,
  { dir, privateGitDir: gitDir }: Workspace,
  scratch: ScratchIndex,
  paths: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const root = await realpath(dir).catch(() => undefined)
  const index = root === undefined ? null : await readPlain(root, '.git/index', largestIndex)
  if (index === null) return new Set()
  const file = join(dirname(scratch.file), 'agent-index')
  await writeFile(file, index)
  const tracked = new Set<string>()
  let rest: Buffer = Buffer.alloc(0)
  const listed = await treeGit({
    gitDir,
    env: { GIT_INDEX_FILE: file },
    args: ['ls-files', '-z', '--cached'],
    onStdout: (chunk) => {
      const read = splitNul(Buffer.concat([rest, chunk]))
      rest = read.rest
      for (const path of read.whole.map(String)) if (paths.has(path)) tracked.add(path)
      return 'more'
    },
  })
  return endedWell(listed) ? tracked : new Set()
}
